// Does llama.cpp cut texts into the tokens that training saw, and put them together again?
//   node training/compare-tokens.mjs MODEL.gguf TOKENS.json      (TOKENS.json: python3 -m tiny_tools.dump_tokens)
import { readFileSync } from 'node:fs';
import { loadTinyModel } from './load-model.mjs';

const [modelPath, tokensPath] = process.argv.slice(2);
const { llama, model } = await loadTinyModel(modelPath);
const texts = JSON.parse(readFileSync(tokensPath, 'utf8'));
const different = texts.filter(
  ([text, tokens]) => JSON.stringify([...model.tokenize(text, false)]) !== JSON.stringify(tokens),
);
const notTheSameText = texts.filter(([text]) => model.detokenize(model.tokenize(text, false)) !== text);
for (const [text] of [...different, ...notTheSameText].slice(0, 5)) console.log('different:', JSON.stringify(text));
console.log(
  `${texts.length} texts, ${different.length} with other tokens, ${notTheSameText.length} that come back changed`,
);
process.exitCode = different.length + notTheSameText.length === 0 ? 0 : 1;
await llama.dispose();
