"""Sources of skeletons beside random trees: laws of science, and files of skeletons."""
