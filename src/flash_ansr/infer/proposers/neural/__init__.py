"""The trained network as a proposer. The only room of inference that imports torch."""
