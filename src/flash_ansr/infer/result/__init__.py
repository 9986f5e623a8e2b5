"""The result of a search: the law, the report, files, plots and displays."""
