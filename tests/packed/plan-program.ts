// A user's program: tools, a plan for a request without a model or a network, its run, and its trace from the log.
import { offlinePlanner } from '@holdfast/adapter-offline';
import { defineTool, isHoldfastError, type Tool } from '@holdfast/core';
import {
  type CompiledPlan,
  checkPlan,
  compilePlan,
  type PlanEvent,
  type PlanTrace,
  planFrom,
  readTrace,
  reportTrace,
  resumePlan,
  runPlan,
  synthesise,
} from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { openSession } from '@holdfast/session';
import { jsonlStore, readLog } from '@holdfast/session/jsonl';

const pages: ReadonlyMap<string, string> = new Map([
  ['tulips.txt', 'Tulips flower in May'],
  ['roses.txt', 'Roses flower all summer long'],
]);
const text = { type: 'string' };
let written = '';

const readText: Tool = defineTool<{ readonly path: string }, { readonly text: string }>({
  name: 'read_text',
  description: 'Read a text file.',
  effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { path: text }, required: ['path'] }),
  outputSchema: jsonSchema({ type: 'object', properties: { text }, required: ['text'] }),
  execute({ path }) {
    const found = pages.get(path);
    if (found === undefined) throw new Error(`There is no ${path}.`);
    return { text: found };
  },
});
const countWords: Tool = defineTool<{ readonly text: string }, { readonly words: number }>({
  name: 'count_words',
  description: 'Count the words of a text.',
  effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { text }, required: ['text'] }),
  outputSchema: jsonSchema({ type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }),
  execute: ({ text: counted }) => ({ words: counted.split(' ').length }),
});
const sendReport: Tool = defineTool<{ readonly content: string }, { readonly sent: number }>({
  name: 'send_report',
  description: 'Send a report.',
  effects: 'external',
  dangerous: true,
  inputSchema: jsonSchema({ type: 'object', properties: { content: text }, required: ['content'] }),
  outputSchema: jsonSchema({ type: 'object', properties: { sent: { type: 'integer' } }, required: ['sent'] }),
  execute({ content }) {
    written = content;
    return { sent: content.length };
  },
});
const tools = [readText, countWords, sendReport];

const compiled: CompiledPlan = await compilePlan({
  request: 'Read tulips.txt and read roses.txt, then count the words of both',
  tools,
  planner: offlinePlanner(),
});
const session = await openSession(jsonlStore('plan.jsonl'));
const events: PlanEvent['type'][] = [];
const trace: PlanTrace = await runPlan(compiled, { tools, session, onEvent: ({ type }) => void events.push(type) });
await session.close();

const byHand = {
  nodes: [
    { id: 'look', tool: 'read_text', inputs: { path: 'tulips.txt' } },
    { id: 'send', tool: 'send_report', inputs: { content: 'It says: {{STEPS.look.text}}' } },
  ],
  final_output_node: 'send',
};
const handmade = await compilePlan({ request: 'As it is written', tools, planner: planFrom(byHand) });
const first = await openSession(jsonlStore('asked.jsonl'));
const asked = await runPlan(handmade, { tools, session: first });
await first.close();
const again = await openSession(jsonlStore('asked.jsonl'));
const resumed = await resumePlan({ tools, session: again, approve: async () => ({ type: 'approve' }) });
await again.close();

const declined = await compilePlan({ request: 'Fly me to the moon', tools, planner: offlinePlanner() }).then(
  () => 'compiled',
  (error: unknown) => (isHoldfastError(error) ? error.code : 'another error'),
);
const invalid = await checkPlan({ nodes: [{ id: 0, tool: 'nobody' }], final_output_node: 0 }, { tools });
const read = readTrace(readLog('plan.jsonl').records);
const { text: report } = await synthesise(read);

console.log(
  JSON.stringify({
    nodes: compiled.plan.nodes.map(({ tool, inputs }) => [tool, inputs]),
    status: trace.status,
    values: trace.nodes.map(({ value }) => value),
    alike: JSON.stringify(read) === JSON.stringify(trace),
    events: [events[0], events.at(-1)],
    told: [reportTrace(read).summary, report.length > 80],
    asked: asked.status,
    resumed: resumed.nodes.map(({ kind }) => kind),
    written,
    declined,
    invalid: invalid.type === 'invalid' ? invalid.violations.map(({ code }) => code) : invalid.type,
  }),
);
