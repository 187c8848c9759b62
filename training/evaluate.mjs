// Measures a GGUF file on cases (JSON lines):
//   node tooling/setup.mjs training/evaluate.mjs MODEL.gguf [--cases FILE] [--json FILE] [--failures FILE] [--limit N]
// A call is forced, and held to one of the offered schemas and to values that stand in the request, by the grammar of the adapter.
// Apart from that: would the model have called, as sure as its format wants it (`callShare`)? Greedy.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { toGrammar } from '../packages/adapter-llama-cpp/src/grammar.ts';
import { tinyFormat } from '../packages/model-tiny/src/index.ts';
import { loadTinyModel } from './load-model.mjs';

const contextTokens = 768;
const longestAnswer = 160; // tokens
const measuredOnly = 'unseen'; // the set whose failures nobody looks at
const { callShare = 0.5 } = tinyFormat;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string', default: new URL('handmade/cases.jsonl', import.meta.url).pathname },
    json: { type: 'string' },
    failures: { type: 'string' },
    limit: { type: 'string', default: '100000' },
  },
});
const [modelPath] = positionals;
if (modelPath === undefined) {
  console.error(
    'usage: node tooling/setup.mjs training/evaluate.mjs MODEL.gguf [--cases FILE] [--json FILE] [--failures FILE] [--limit N]',
  );
  process.exit(2);
}

const { llama, model, LlamaGrammarEvaluationState } = await loadTinyModel(modelPath);
const context = await model.createContext({ contextSize: contextTokens, batchSize: contextTokens });
const sequence = context.getSequence();

const special = (name) => model.tokenize(`<|hf_${name}|>`, true);
const plain = (text) => (text === '' ? [] : model.tokenize(text, false));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const declared = ({ tools }) =>
  tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
const messages = ({ request }) => [{ role: 'user', text: request }];

/** As the package of the model writes it. */
function promptOf(testCase) {
  return tinyFormat
    .toPrompt(messages(testCase), declared(testCase))
    .flatMap((part) => (typeof part === 'string' ? plain(part) : model.tokenize(part.special, true)));
}

/**
 * The model's continuation of the tokens, and its duration in milliseconds. Token by token, as in the adapter: what the
 * binding has for completions puts one more beginning before them.
 */
async function generate(tokens, grammar) {
  await sequence.clearHistory();
  const startedAt = performance.now();
  const state = grammar === undefined ? undefined : new LlamaGrammarEvaluationState({ model, grammar });
  const settings = { temperature: 0, grammarEvaluationState: state, yieldEogToken: true };
  const written = [];
  for await (const token of sequence.evaluate(tokens, settings)) {
    if (model.isEogToken(token) || written.length === longestAnswer) break;
    written.push(token);
  }
  return { text: model.detokenize(written).trim(), milliseconds: performance.now() - startedAt };
}

/** Which share of the likelihood of a call and of a text the call has. */
async function callShareAfter(tokens) {
  await sequence.clearHistory();
  const last = [tokens.at(-1), { generateNext: { probabilities: true } }];
  const { probabilities } = (await sequence.controlledEvaluate([...tokens.slice(0, -1), last])).at(-1).next;
  const [forCall, forText] = ['call', 'say'].map((name) => probabilities.get(special(name)[0]) ?? 0);
  return forCall / (forCall + forText);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // counted as cut
  }
}

/** A grammar that lets through one call of one of the tools. */
function grammarFor(testCase) {
  const schemas = declared(testCase).map((tool) => tinyFormat.toCallSchema(tool));
  return llama.createGrammar({ grammar: toGrammar(schemas, tinyFormat.quotedTexts(messages(testCase))).text });
}

// group -> measure -> [hits, cases]
const tally = new Map();
const failures = [];
const shares = [];
const times = [];

function count(groups, measure, hit) {
  for (const group of groups) {
    if (!tally.has(group)) tally.set(group, new Map());
    const measures = tally.get(group);
    if (!measures.has(measure)) measures.set(measure, [0, 0]);
    const pair = measures.get(measure);
    pair[0] += hit ? 1 : 0;
    pair[1] += 1;
  }
}

const groupsOf = (testCase) => [
  'all',
  `set ${testCase.set}`,
  ...(testCase.unusual === true ? [`set ${testCase.set}, unusual`] : []),
  `${testCase.offered} offered`,
];

async function measureFirstStep(testCase, prompt) {
  const wanted = testCase.steps[0].call;
  const groups = groupsOf(testCase);
  const share = await callShareAfter(prompt);
  const calls = share >= callShare;
  if (wanted === undefined) {
    learn(testCase, { share });
    count(groups, 'refused, none fits', !calls);
    if (testCase.near === true) count(groups, 'refused, one near', !calls);
    if (calls) fail(testCase, { share, wanted, got: 'a call' });
    return;
  }
  const { text, milliseconds } = await generate([...prompt, ...special('call')], await grammarFor(testCase));
  times.push(milliseconds);
  const call = parsed(text);
  const isTool = call?.name === wanted.name;
  const isExact = same(call, wanted);
  learn(testCase, { share, isTool });
  count(groups, 'right tool', isTool);
  count(groups, 'exact call', isExact);
  count(groups, 'cut', call === undefined);
  count(groups, 'refused wrongly', !calls);
  count(groups, 'right tool, not refused', calls && isTool);
  count(groups, 'exact call, not refused', calls && isExact);
  if (!calls || !isExact) fail(testCase, { share, wanted, got: text });
}

/** Each later step, after the expected earlier ones. */
async function measureLaterSteps(testCase, prompt) {
  let tokens = prompt;
  for (const [index, step] of testCase.steps.entries()) {
    if (step.call !== undefined) {
      if (index > 0) {
        const { text } = await generate(tokens);
        count(['all'], 'second call exact', same(parsed(text), step.call));
      }
      tokens = [...tokens, ...special('call'), ...plain(JSON.stringify(step.call)), ...special('end')];
    } else if (step.result !== undefined) {
      tokens = [...tokens, ...special('result'), ...plain(JSON.stringify(step.result))];
    } else if (index > 0) {
      const { text } = await generate(tokens);
      const afterError = testCase.steps[index - 1].result.error !== undefined;
      count(['all'], afterError ? 'answer after an error' : 'answer after a result', text === step.say);
    }
  }
}

/** For choosing a share; nothing is chosen by the set that is for measuring only. */
function learn({ set }, { share, isTool }) {
  if (set !== measuredOnly) shares.push({ share, isTool });
}

function fail({ id, set, line, request }, { share, wanted, got }) {
  if (set !== measuredOnly) failures.push({ id, line, request, share, wanted, got });
}

const lines = readFileSync(options.cases, 'utf8').trim().split('\n').slice(0, Number(options.limit));
for (const line of lines) {
  const testCase = JSON.parse(line);
  const prompt = promptOf(testCase);
  await measureFirstStep(testCase, prompt);
  await measureLaterSteps(testCase, prompt);
}

const percent = ([hits, cases]) => `${hits}/${cases} (${Math.round((100 * hits) / cases)} %)`;
for (const group of [...tally.keys()].sort()) {
  console.log(`\n${group}`);
  for (const [measure, pair] of tally.get(group)) console.log(`  ${measure.padEnd(24)}${percent(pair)}`);
}
console.log(`\nIf a call needed another share than \`callShare\`, of all sets but \`${measuredOnly}\`:`);
for (const least of [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]) {
  const refuses = ({ share }) => share < least;
  const calls = shares.filter(({ isTool }) => isTool !== undefined);
  const others = shares.filter(({ isTool }) => isTool === undefined);
  const tools = calls.filter((one) => one.isTool && !refuses(one));
  const refused = others.filter(refuses);
  const all = percent([tools.length + refused.length, shares.length]).padEnd(14);
  console.log(
    `  ${least.toFixed(2)}  right ${all} tool ${tools.length}, refused ${refused.length}, wrongly ${calls.filter(refuses).length}`,
  );
}
const milliseconds = Math.round(times.reduce((sum, one) => sum + one, 0) / times.length);
console.log(`\nmilliseconds: ${milliseconds} a call`);
if (options.json !== undefined) {
  const results = Object.fromEntries([...tally].map(([group, measures]) => [group, Object.fromEntries(measures)]));
  writeFileSync(
    options.json,
    `${JSON.stringify({ model: modelPath, cases: lines.length, results, milliseconds }, null, 2)}\n`,
  );
}
if (options.failures !== undefined) writeFileSync(options.failures, `${JSON.stringify(failures, null, 2)}\n`);
await llama.dispose();
