// Measures a GGUF file on cases (JSON lines):
//   node tooling/setup.mjs training/evaluate.mjs MODEL.gguf [--cases FILE] [--json FILE] [--failures FILE] [--limit N]
// free: the model decides between a call and an answer. grammar: a call is forced and has to fit one of the offered schemas.
// Greedy.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tinyFormat } from '../packages/model-tiny/src/index.ts';
import { loadTinyModel } from './load-model.mjs';

const contextTokens = 768;
const longestAnswer = 160; // tokens
const longestText = 80; // characters of a text in a forced call

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

/** As the package of the model writes it. */
function promptOf({ request, tools }) {
  const declared = tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
  return tinyFormat
    .toPrompt([{ role: 'user', text: request }], declared)
    .flatMap((part) => (typeof part === 'string' ? plain(part) : model.tokenize(part.special, true)));
}

/**
 * What the model writes after the tokens, and how long that took in milliseconds. Token by token, as the adapter does it: what the
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

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // counted as malformed
  }
}

/** A grammar that lets through one call of one of the tools. */
function grammarFor(tools) {
  const branches = tools.map(({ name, parameters }) => {
    const properties = {};
    for (const [key, schema] of Object.entries(parameters.properties)) {
      properties[key] = schema.type === 'string' ? { ...schema, maxLength: longestText } : schema;
    }
    return {
      type: 'object',
      properties: { name: { const: name }, arguments: { ...parameters, properties } },
      required: ['name', 'arguments'],
      additionalProperties: false,
    };
  });
  return llama.createGrammarForJsonSchema(branches.length > 1 ? { oneOf: branches } : branches[0]);
}

// group -> measure -> [hits, cases]
const tally = new Map();
const failures = [];
const times = { free: [0, 0], grammar: [0, 0] };

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

function spent(what, milliseconds) {
  times[what][0] += milliseconds;
  times[what][1] += 1;
}

const groupsOf = (testCase) => [
  'all',
  `set ${testCase.set}${testCase.unusual === true ? ', unusual' : ''}`,
  `${testCase.offered} offered`,
];

async function measureFirstStep(testCase, prompt) {
  const wanted = testCase.steps[0].call;
  const groups = groupsOf(testCase);
  const { text, milliseconds } = await generate(prompt);
  spent('free', milliseconds);
  const isCall = text.startsWith('{');
  if (wanted === undefined) {
    count(groups, 'refused, none fits', !isCall);
    if (testCase.near === true) count(groups, 'refused, one near', !isCall);
    if (isCall) fail(testCase, 'a call though no tool fits', undefined, text);
    return;
  }
  const call = isCall ? parsed(text) : undefined;
  count(groups, 'tool, free', call?.name === wanted.name);
  count(groups, 'exact, free', same(call, wanted));
  count(groups, 'refused wrongly', !isCall);
  count(groups, 'malformed, free', isCall && call === undefined);
  count(groups, 'not offered', call !== undefined && !testCase.tools.some((tool) => tool.name === call.name));
  if (!same(call, wanted)) fail(testCase, 'free', wanted, text);

  const grammar = await grammarFor(testCase.tools);
  const forced = await generate([...prompt, ...special('call')], grammar);
  spent('grammar', forced.milliseconds);
  const forcedCall = parsed(forced.text);
  count(groups, 'tool, grammar', forcedCall?.name === wanted.name);
  count(groups, 'exact, grammar', same(forcedCall, wanted));
  count(groups, 'malformed, grammar', forcedCall === undefined);
  if (!same(forcedCall, wanted)) fail(testCase, 'grammar', wanted, forced.text);
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

function fail(testCase, how, wanted, got) {
  const { id, line, request } = testCase;
  failures.push({ id, how, line, request, wanted, got });
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
const average = ([sum, turns]) => (turns === 0 ? 0 : Math.round(sum / turns));
console.log(`\nmilliseconds: ${average(times.free)} a free turn, ${average(times.grammar)} a call with grammar`);
if (options.json !== undefined) {
  const results = Object.fromEntries([...tally].map(([group, measures]) => [group, Object.fromEntries(measures)]));
  const milliseconds = { free: average(times.free), grammar: average(times.grammar) };
  writeFileSync(
    options.json,
    `${JSON.stringify({ model: modelPath, cases: lines.length, results, milliseconds }, null, 2)}\n`,
  );
}
if (options.failures !== undefined) writeFileSync(options.failures, `${JSON.stringify(failures, null, 2)}\n`);
await llama.dispose();
