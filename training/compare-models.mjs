// Puts the packaged model and the offline stand-in to the same requests, as `--model local` and `--model offline` would answer them:
//   node tooling/setup.mjs training/compare-models.mjs [MODEL.gguf] [--json] [--limit N]
// unseen: sets `new` and `unseen` of the hand-made cases, whose requests and tools neither was made for. start: what `npm start` shows, over its tools.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearestTools } from '../apps/cli/src/models/nearest-tools.ts';
import { loadLlamaModel } from '../packages/adapter-llama-cpp/src/index.ts';
import { offlineModel } from '../packages/adapter-offline/src/index.ts';
import { fileTools } from '../packages/filesystem/src/index.ts';
import { loadTools } from '../packages/loader/src/index.ts';
import { tinyFormat, tinyModelUrl } from '../packages/model-tiny/src/index.ts';
import { compileSchema } from '../packages/schema/src/index.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, limit: { type: 'string', default: '100000' } },
});
const [modelPath = tinyModelUrl] = positionals;
const limit = Number(options.limit);

/** Both as apps/cli opens them. */
const tiny = await loadLlamaModel({ modelPath, format: tinyFormat, maxTokens: 160 });
const models = {
  'stand-in': offlineModel(),
  packaged: {
    stream: (request) => tiny.stream({ ...request, tools: nearestTools(request.tools, request.messages, 5) }),
  },
};

function readUnseen() {
  const text = readFileSync(new URL('handmade/cases.jsonl', import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ set }) => set !== 'old')
    .map(({ request, tools, steps }) => ({
      request,
      calls: steps[0].call === undefined ? [] : [steps[0].call],
      tools: tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters })),
    }));
}

async function readStart() {
  const folder = new URL('../examples/plugins', import.meta.url).pathname;
  const loaded = await loadTools(folder, { isolation: 'in-process' });
  const tools = [...fileTools(), ...loaded.tools].map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: compileSchema(inputSchema).jsonSchema,
  }));
  const requests = JSON.parse(readFileSync(new URL('start-requests.json', import.meta.url), 'utf8'));
  return requests.map((one) => ({ ...one, tools }));
}

/** The first call of the answer; `undefined` when there is none. */
async function firstCall(model, { request, tools }, messages = [{ role: 'user', text: request }]) {
  let call;
  let said = '';
  for await (const event of model.stream({ messages, tools, signal: new AbortController().signal })) {
    if (event.type === 'text-delta') said += event.text;
    if (event.type !== 'tool-call' || call !== undefined) continue;
    const given = typeof event.arguments === 'string' ? JSON.parse(event.arguments) : event.arguments;
    call = { name: event.name, arguments: given };
  }
  if (messages.length > 1) return said.includes('Nothing has been done.') ? undefined : messages[1].calls[0];
  const isLook =
    model === models['stand-in'] && call?.name === 'list_files' && Object.keys(call.arguments).length === 0;
  if (!isLook) return call;
  // It lists the files before it asks back: that is not an answer yet.
  const listing = { role: 'tool', callId: '1', name: call.name, success: true, text: '' };
  return firstCall(model, { request, tools }, [
    ...messages,
    { role: 'assistant', text: '', calls: [{ ...call, id: '1' }] },
    listing,
  ]);
}

/** The order of arguments does not count, nor one that says what counts without it. */
function toText({ name, arguments: given }, tools) {
  const { properties = {} } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  const said = Object.entries(given).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(properties[key]?.default),
  );
  return JSON.stringify([name, said.sort(([one], [other]) => (one < other ? -1 : 1))]);
}

async function measure(model, cases) {
  const score = { rightTool: 0, exactCall: 0, wrong: 0, calls: 0, refused: 0, refusals: 0, failed: 0, milliseconds: 0 };
  const times = [];
  for (const one of cases) {
    const startedAt = performance.now();
    let call;
    try {
      call = await firstCall(model, one);
    } catch {
      // Counted: out of context, or arguments that are not JSON.
      score.failed += 1;
      call = { name: '', arguments: {} };
    }
    times.push(performance.now() - startedAt);
    if (one.calls.length === 0) {
      score.refusals += 1;
      score.refused += call === undefined ? 1 : 0;
      score.wrong += call === undefined ? 0 : 1;
      continue;
    }
    score.calls += 1;
    if (call === undefined) continue;
    score.rightTool += one.calls.some(({ name }) => name === call.name) ? 1 : 0;
    const isExact = one.calls.some((wanted) => toText(wanted, one.tools) === toText(call, one.tools));
    score.exactCall += isExact ? 1 : 0;
    score.wrong += isExact ? 0 : 1;
  }
  score.milliseconds = Math.round(times.sort((one, other) => one - other)[times.length >> 1] ?? 0);
  return score;
}

const suites = { unseen: readUnseen(), start: await readStart() };
const results = {};
for (const [name, cases] of Object.entries(suites)) {
  results[name] = {};
  for (const [id, model] of Object.entries(models)) results[name][id] = await measure(model, cases.slice(0, limit));
}
await tiny.close();

/** Who answers `npm start`: the packaged model where it is nowhere worse at what is shown there. */
const { 'stand-in': standIn, packaged } = results.start;
const isAsGood = ['rightTool', 'exactCall', 'refused'].every((measure) => packaged[measure] >= standIn[measure]);
const answers = isAsGood ? 'packaged' : 'stand-in';

if (options.json) console.log(JSON.stringify({ results, answers }, null, 2));
else {
  for (const [name, scores] of Object.entries(results)) {
    const { calls, refusals } = scores.packaged;
    const row = (what, show) => `| ${what} | ${show(scores['stand-in'])} | ${show(scores.packaged)} |`;
    const share = (part, of) => `${part} (${Math.round((100 * part) / Math.max(of, 1))} %)`;
    console.log(`| ${name}: ${calls + refusals} requests | offline stand-in | packaged model |`);
    console.log('| --- | --- | --- |');
    console.log(row(`right tool, of ${calls}`, ({ rightTool }) => share(rightTool, calls)));
    console.log(row(`exact call, of ${calls}`, ({ exactCall }) => share(exactCall, calls)));
    console.log(row(`wrong call, of ${calls + refusals}`, ({ wrong }) => share(wrong, calls + refusals)));
    console.log(row(`refused, of ${refusals} where no tool fits`, ({ refused }) => share(refused, refusals)));
    console.log(row('milliseconds, in the middle', ({ milliseconds }) => milliseconds));
    console.log('');
  }
  const why = isAsGood
    ? 'the packaged model, which is nowhere worse there'
    : 'the offline stand-in, which is better there';
  console.log(`npm start is answered by ${why}.`);
}
process.exit(0);
