"""A tiny tool-calling language model of our own: its data, its training and its export."""
