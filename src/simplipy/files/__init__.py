"""Reading tables from text files, and writing files whole or not at all."""
