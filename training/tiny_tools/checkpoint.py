"""A checkpoint: the weights, the sizes of the model, the number of steps."""
import torch

from tiny_tools.model import Model

# The first checkpoints have short names for the weights.
SHORT = {
    'e': 'embedding', 'b': 'blocks', 'n': 'norm', 'n1': 'attention_norm', 'n2': 'feed_norm', 'w': 'weight',
    'q': 'query', 'k': 'key', 'v': 'value', 'o': 'output', 'g': 'gate', 'u': 'up', 'd': 'down',
}


def save(model, step, path):
    torch.save({'model': model.state_dict(), 'config': model.config, 'step': step}, path)


def load(path, device='cpu'):
    """(the model, its step)"""
    saved = torch.load(path, map_location=device)
    model = Model(**saved['config']).to(device)
    weights = {'.'.join(SHORT.get(part, part) for part in name.split('.')): w for name, w in saved['model'].items()}
    model.load_state_dict(weights)
    return model, saved['step']
