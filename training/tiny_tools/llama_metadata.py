"""What llama.cpp has to know about the model: its sizes and its vocabulary. Standard library only."""
from tiny_tools.gguf import ALIGNMENT, Value
from tiny_tools.tokenizer import FIRST_BYTE, FIRST_MERGE, SPACE, SPECIAL, special_text

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # llama.cpp's types of tokens
ROPE_BASE = 10000.0
NO_ROTATION = 1e12


def add_sizes(gguf, config, norm_epsilon, file_type, name):
    """`config`: the sizes of the model, as a checkpoint has them. `file_type`: 0 F32, 1 F16, 7 Q8_0."""
    gguf.add('general.architecture', Value.STRING, 'llama')
    gguf.add('general.name', Value.STRING, name)
    gguf.add('general.alignment', Value.UINT32, ALIGNMENT)
    gguf.add('general.file_type', Value.UINT32, file_type)
    sizes = {
        'context_length': config['context'], 'embedding_length': config['width'], 'block_count': config['layers'],
        'feed_forward_length': config['hidden'], 'vocab_size': config['vocab'],
        'attention.head_count': config['heads'], 'attention.head_count_kv': config['heads'],
        'rope.dimension_count': config['width'] // config['heads'],
    }
    for key, value in sizes.items():
        gguf.add('llama.' + key, Value.UINT32, value)
    gguf.add('llama.attention.layer_norm_rms_epsilon', Value.FLOAT32, norm_epsilon)
    gguf.add('llama.rope.freq_base', Value.FLOAT32, ROPE_BASE)


def vocabulary(merges):
    """[(token, its type, its score)], in the order of their numbers. A better score is joined first."""
    special = {number: name for name, number in SPECIAL.items()}
    tokens = []
    for number in range(FIRST_MERGE):
        if number in special:
            tokens.append((special_text(special[number]), UNKNOWN if number == SPECIAL['unk'] else CONTROL, 0.0))
        elif number == SPACE:
            tokens.append(('\u2581', NORMAL, 0.0))
        else:
            tokens.append(('<0x%02X>' % (number - FIRST_BYTE), BYTE, 0.0))
    return tokens + [(merge, NORMAL, -float(i + 1)) for i, merge in enumerate(merges)]


def add_vocabulary(gguf, merges):
    texts, types, scores = zip(*vocabulary(merges))
    gguf.add('tokenizer.ggml.model', Value.STRING, 'llama')
    gguf.add_array('tokenizer.ggml.tokens', Value.STRING, texts)
    gguf.add_array('tokenizer.ggml.scores', Value.FLOAT32, scores)
    gguf.add_array('tokenizer.ggml.token_type', Value.INT32, types)
    for key, name in (('bos', 'bos'), ('eos', 'end'), ('unknown', 'unk')):
        gguf.add(f'tokenizer.ggml.{key}_token_id', Value.UINT32, SPECIAL[name])
    for key, value in (('add_bos_token', True), ('add_eos_token', False), ('add_space_prefix', False)):
        gguf.add(f'tokenizer.ggml.{key}', Value.BOOL, value)


def rotation_factors(head_size, frequencies):
    """llama.cpp divides its own frequency of each pair by a factor; a huge one means no rotation."""
    factors = []
    for pair in range(head_size // 2):
        own = ROPE_BASE ** (-2 * pair / head_size)
        factors.append(own / frequencies[pair] if pair < len(frequencies) else NO_ROTATION)
    return factors
