"""Trained networks on the disk: folders of safetensors and JSON, and the facts they state."""
