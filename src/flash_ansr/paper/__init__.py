"""The paper's figures, tables and claims by name, each made anew by one command."""
