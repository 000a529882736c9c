"""Ids by the Hugging Face library for one family of tokenizers, as JSON for oracle_test.cpp.

usage: oracle.py CASE OUT
OUT/base.json is a tokenizer.json; OUT/cases.json is {"strings": [...], "variants": [{"name": ...,
"override": keys of base.json to replace, "ids": a list for each string, null where it was left out}]}.
"""
import json
import pathlib
import random
import sys
import unicodedata

import gguf
from tokenizers import Tokenizer

MODELS = pathlib.Path('fixtures/llama.cpp/models')
LOOK_ALIKES = ['<|im_end|>', '<|im_start|>', '<|im_start', '<|endoftext|>', '<think>', '</think>', '<s>',
               '</s>', '<unk>', '<0x0A>', '<|', '|>', '<tool_call>', '<|im_<|im_end|>end|>', '▁', '▁▁',
               '<|eot_id|>', '[INST]', '<|a|>', '<|ab|>', '<|abc|>', 'word', '<mask>']
WORDS = ["don't", "I'LL", "we'Ve", "'ſ", "it's", "'S", "’s", 'Hello', 'WORLD', 'über', 'naïve',
         'e\u0301', 'A\u030a', 'İstanbul', 'Straße', '北京', '東京都', 'こんにちは', '안녕하세요',
         '\u1112\u1161\u11ab', 'привет', 'مرحبا', 'שָׁלוֹם', 'हिन्दी', 'ไทย', 'ﬁ', '①', '½', '²', '٣٤٥',
         '१२३', 'Ⅷ', '👨\u200d👩\u200d👧', '🇺🇳', '👍🏽', '\u202eabc', '\u200b', '\ufeff', 'a\u0327\u0301',
         '123', '1234567', '3.14', 'x86_64', 'foo_bar', 'i++', '!=', '...', '---', '/*', '"quoted"', '=>',
         '\u0958', '\u212b', '\ufb1d', '\U0001d15e', '\u0f73', '\u0344', '\x00', '\x85', '\xa0']
SPACES = [' ', '  ', '   ', '\n', '\r\n', '\t', ' \n', '\n ', '\n\n\n', ' \t ', '\u3000', '\u2003 ',
          '\r', '\x0b', ' ' * 17]


def strings(count):
    rng = random.Random(20240229)
    scalar = [(0, 0x7f), (0x80, 0x24f), (0x300, 0x36f), (0x370, 0x1fff), (0x2000, 0x2fff),
              (0x3000, 0xd7ff), (0xe000, 0xffff), (0x10000, 0x1ffff), (0x20000, 0x10ffff)]

    def point():
        low, high = rng.choice(scalar)
        return chr(rng.randint(low, high))

    def atom():
        kind = rng.random()
        if kind < .35:
            return rng.choice(WORDS)
        if kind < .6:
            return rng.choice(SPACES)
        if kind < .7:
            return rng.choice(LOOK_ALIKES)
        if kind < .8:
            return ''.join(rng.choice('abcdefgstmlvd\'ABCTS .,0123456789') for _ in range(rng.randint(1, 9)))
        if kind < .83:
            return rng.choice(['a', ' ', '=', '9', '\n', '哈', '\u0301', '-', '\'s']) * rng.randint(1, 70)
        return ''.join(point() for _ in range(rng.randint(1, 4)))

    fixed = ['', ' ', '\n', 'a', 'a' * 3000, ' ' * 500, '0123456789' * 50, '\u0301' * 300, 'aA' * 500,
             '的' * 700, ' \n' * 100] + WORDS + SPACES + LOOK_ALIKES
    return (fixed + [''.join(atom() for _ in range(rng.randint(1, 12))) for _ in range(count)])[:max(count, 200)]


def vocabulary(path):
    """tokens, types, merges and scores of a GGUF file."""
    fields = gguf.GGUFReader(path).fields

    def read(name):
        field = fields.get(f'tokenizer.ggml.{name}')
        if field is None:
            return None
        if field.types[1] == gguf.GGUFValueType.STRING:
            return [bytes(field.parts[i]).decode() for i in field.data]
        return [field.parts[i][0].item() for i in field.data]
    return read('tokens'), read('token_type'), read('merges'), read('scores')


def added(token, content, special=True, **flags):
    result = dict(id=token, content=content, single_word=False, lstrip=False, rstrip=False,
                  normalized=False, special=special)
    return {**result, **flags}


def byte_level(path, pretokenizer, ignore_merges=False, normalizer=None):
    tokens, types, merges, _ = vocabulary(path)
    return dict(
        version='1.0', truncation=None, padding=None, normalizer=normalizer, pre_tokenizer=pretokenizer,
        added_tokens=[added(i, t, types[i] != 4) for i, t in enumerate(tokens) if types[i] in (2, 3, 4)],
        post_processor=None, decoder=dict(type='ByteLevel', add_prefix_space=True, trim_offsets=True,
                                          use_regex=True),
        model=dict(type='BPE', dropout=None, unk_token=None, continuing_subword_prefix=None,
                   end_of_word_suffix=None, fuse_unk=False, byte_fallback=False,
                   ignore_merges=ignore_merges,
                   vocab={t: i for i, t in enumerate(tokens)}, merges=merges))


def sentencepiece(path):
    """As converters turn scores into merges."""
    tokens, types, _, scores = vocabulary(path)
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for i, token in enumerate(tokens):
        if types[i] in (2, 3, 6):
            continue
        local = [(ids[token[:k]], ids[token[k:]], k) for k in range(1, len(token))
                 if token[:k] in ids and token[k:] in ids]
        merges += [(-scores[i], i, token[:k], token[k:]) for _, _, k in sorted(local)]
    merges.sort(key=lambda merge: merge[0])
    replace = lambda a, b: dict(type='Replace', pattern=dict(String=a), content=b)
    return dict(
        version='1.0', truncation=None, padding=None, pre_tokenizer=None, post_processor=None,
        normalizer=dict(type='Sequence', normalizers=[dict(type='Prepend', prepend='▁'), replace(' ', '▁')]),
        added_tokens=[added(i, t) for i, t in enumerate(tokens) if types[i] in (2, 3)],
        decoder=dict(type='Sequence', decoders=[
            replace('▁', ' '), dict(type='ByteFallback'), dict(type='Fuse'),
            dict(type='Strip', content=' ', start=1, stop=0)]),
        model=dict(type='BPE', dropout=None, unk_token='<unk>', continuing_subword_prefix=None,
                   end_of_word_suffix=None, fuse_unk=True, byte_fallback=True, ignore_merges=False,
                   vocab=ids, merges=[[left, right] for _, _, left, right in merges]))


def level(prefix=False, regex=False):
    return dict(type='ByteLevel', add_prefix_space=prefix, trim_offsets=True, use_regex=regex)


def sequence(*parts):
    return dict(type='Sequence', pretokenizers=list(parts))


def split(pattern, behavior='Isolated', invert=False):
    return dict(type='Split', pattern=pattern, behavior=behavior, invert=invert)


CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
LLAMA3 = (CL100K + r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (CL100K + r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
BEHAVIORS = ['Isolated', 'Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']


def step_variants(size):
    """Overrides of a byte-level tokenizer of `size` tokens that try every step."""
    pre = {}
    for behavior in BEHAVIORS:
        for invert in (False, True):
            for name, pattern in (('regex', {'Regex': r'\d|[aeiou]+'}), ('string', {'String': 'e'})):
                pre[f'split {name} {behavior} {invert}'] = sequence(split(pattern, behavior, invert), level())
        pre[f'punctuation {behavior}'] = sequence(dict(type='Punctuation', behavior=behavior), level())
    pre['digits'] = sequence(dict(type='Digits', individual_digits=False), level(True, True))
    pre['whitespace'] = sequence(dict(type='Whitespace'), level())
    pre['whitespace split'] = sequence(dict(type='WhitespaceSplit'), level(True))
    pre['after byte level'] = sequence(level(False, True), dict(type='Digits', individual_digits=True),
                                       split({'Regex': '[a-f]+'}))
    pre['metaspace'] = sequence(dict(type='Metaspace', replacement='▁', prepend_scheme='first', split=True),
                                level())
    pre['lookahead'] = sequence(split({'Regex': r'^\s*\w+(?=\W)|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+'}), level())
    norm = {name: dict(type=name) for name in ('NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase')}
    norm['strip'] = dict(type='Strip', strip_left=True, strip_right=True)
    norm['replace'] = dict(type='Sequence', normalizers=[
        dict(type='Replace', pattern={'Regex': r'\s{2,}'}, content='_'), dict(type='Prepend', prepend='>')])
    result = [(name, dict(pre_tokenizer=value)) for name, value in pre.items()]
    result += [(name, dict(normalizer=value)) for name, value in norm.items()]
    flags = [added(size, '<|a|>', lstrip=True), added(size + 1, '<|ab|>', rstrip=True),
             added(size + 2, '<|abc|>', lstrip=True, rstrip=True, special=False),
             added(size + 3, 'Hello', special=False, single_word=True),
             added(size + 4, 'WORLD', special=False, normalized=True),
             added(size + 5, '  ', special=False), added(size + 6, '<|', special=False),
             added(size + 7, '<|im_start', normalized=True)]
    result.append(('added tokens', dict(added_tokens=flags)))
    result.append(('added tokens, normalized', dict(added_tokens=flags, normalizer=dict(type='Lowercase'))))
    return result


def case(name):
    """A tokenizer.json, its variants, how many strings."""
    plain = [('', {})]
    if name == 'qwen3':
        return json.loads(pathlib.Path('fixtures/qwen3-tokenizer/tokenizer.json').read_text()), plain, 12000
    if name == 'stories260k':
        return json.loads(pathlib.Path('tests/golden/stories260k/tokenizer.json').read_text()), plain, 6000
    if name == 'smollm':
        return byte_level('fixtures/smollm2.gguf', sequence(
            dict(type='Digits', individual_digits=True), level(False, True))), plain, 10000
    if name == 'llama-spm':
        return sentencepiece(MODELS / 'ggml-vocab-llama-spm.gguf'), plain, 10000
    if name == 'llama-bpe':
        return byte_level(MODELS / 'ggml-vocab-llama-bpe.gguf',
                          sequence(split({'Regex': LLAMA3}), level()), True), plain, 10000
    if name == 'qwen35':
        return byte_level(MODELS / 'ggml-vocab-qwen35.gguf', sequence(split({'Regex': QWEN35}), level())), plain, 10000
    gpt2 = byte_level(MODELS / 'ggml-vocab-gpt-2.gguf', level(False, True))
    size = 256 + 5000  # bytes, then the first merges: small, as it is loaded for each variant
    gpt2['model']['merges'] = gpt2['model']['merges'][:size - 256]
    gpt2['model']['vocab'] = {t: i for t, i in gpt2['model']['vocab'].items() if i < size}
    gpt2['added_tokens'] = []
    return gpt2, plain + step_variants(size), 700


def comparable(title, text):
    """False where the two libraries know different versions of Unicode."""
    if title.startswith('punctuation'):  # the library's is older than 9.0
        return max(text, default='') < '\u0590'
    if title.startswith(('split regex', 'lookahead')):  # PCRE2's may be as old as this Python's
        return all(unicodedata.category(c) != 'Cn' for c in text)
    return True


def main():
    name, out = sys.argv[1], pathlib.Path(sys.argv[2])
    base, variants, count = case(name)
    texts = strings(count)
    done = []
    for title, override in variants:
        tokenizer = Tokenizer.from_str(json.dumps({**base, **override}))
        keep = [comparable(title, text) for text in texts]
        ids = iter(tokenizer.encode_batch([t for t, k in zip(texts, keep) if k], add_special_tokens=False))
        done.append(dict(name=title, override=override, ids=[next(ids).ids if k else None for k in keep]))
    (out / 'base.json').write_text(json.dumps(base))
    (out / 'cases.json').write_text(json.dumps(dict(strings=texts, variants=done)))


if __name__ == '__main__':
    main()
