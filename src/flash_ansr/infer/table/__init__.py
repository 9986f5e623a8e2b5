"""The rows of a search and the grammar it keeps to, with the checks of user input."""
