import type { JsonObject, Planner, PlannerAttempt, PlannerTool } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core';
import { toolFrom } from './fixtures.ts';

/** A tool from its signature; `gives` is its output schema by the same notation, as in `{ text: 'string', hits: 'string[]' }`. */
export function plannerTool(
  signature: string,
  description: string,
  { gives, effects = 'none', dangerous = false }: PlannerToolOptions = {},
): PlannerTool {
  const tool = toolFrom(signature, description);
  return { ...tool, effects, dangerous, ...(gives === undefined ? {} : { outputSchema: outputOf(gives) }) };
}

interface PlannerToolOptions {
  readonly gives?: Readonly<Record<string, string>> | undefined;
  readonly effects?: PlannerTool['effects'];
  readonly dangerous?: boolean;
}

function outputOf(gives: Readonly<Record<string, string>>): JsonObject {
  const properties = Object.fromEntries(Object.entries(gives).map(([name, type]) => [name, schemaOf(type)]));
  return { type: 'object', properties, required: Object.keys(gives), additionalProperties: false };
}

function schemaOf(type: string): JsonObject {
  if (!type.endsWith('[]')) return { type };
  const item = type.slice(0, -2);
  const rows = /^\{(.*)\}$/u.exec(item)?.[1];
  return {
    type: 'array',
    items:
      rows === undefined
        ? { type: item }
        : outputOf(Object.fromEntries(rows.split(' ').map((name) => [name, 'string']))),
  };
}

export const files: readonly PlannerTool[] = [
  plannerTool('list_files(folder?)', 'List the files of the workspace.', { gives: { files: 'string[]' } }),
  plannerTool('read_file(path)', 'Read a text file.', { gives: { path: 'string', text: 'string' } }),
  plannerTool('write_file(path, content)', 'Write a text file.', {
    gives: { path: 'string', bytes: 'integer' },
    effects: 'state',
  }),
  plannerTool('delete_file(path)', 'Delete a file.', { effects: 'state', dangerous: true }),
];

export const texts: readonly PlannerTool[] = [
  plannerTool('count_words(text)', 'Count the words, lines and characters of a text.', {
    gives: { words: 'integer', lines: 'integer', characters: 'integer' },
  }),
  plannerTool('summarize_text(text)', 'Summarize a text.', { gives: { summary: 'string' } }),
  plannerTool('translate_text(text, language)', 'Translate a text into another language.', {
    gives: { text: 'string', language: 'string' },
  }),
  plannerTool('measure_readability(text)', 'Measure the readability of a text.', {
    gives: { score: 'number', grade: 'string' },
  }),
  plannerTool('compare_texts(first, second)', 'Compare two texts.', {
    gives: { report: 'string', similarity: 'number' },
  }),
  plannerTool('merge_texts(texts:string[])', 'Merge several texts into one.', { gives: { text: 'string' } }),
  plannerTool('extract_keywords(text)', 'Extract the keywords of a text.', { gives: { keywords: 'string[]' } }),
];

export const web: readonly PlannerTool[] = [
  plannerTool('fetch_url(url)', 'Fetch a web page.', { gives: { url: 'string', status: 'integer', text: 'string' } }),
  plannerTool('search_web(query)', 'Search the web.', { gives: { results: '{title url snippet}[]' } }),
];

export const numbers: readonly PlannerTool[] = [
  plannerTool('calculate(expression)', 'Evaluate an arithmetic expression.', { gives: { result: 'number' } }),
  plannerTool('convert_currency(amount:number, from, to)', 'Convert an amount of money from one currency to another.', {
    gives: { amount: 'number', currency: 'string' },
  }),
  plannerTool('average_numbers(numbers:number[])', 'Compute the average of some numbers.', {
    gives: { average: 'number' },
  }),
  plannerTool('get_stock_price(symbol)', 'Get the latest price of a stock.', {
    gives: { symbol: 'string', price: 'number', currency: 'string' },
  }),
];

export const office: readonly PlannerTool[] = [
  plannerTool('send_mail(to, subject, body)', 'Send an e-mail.', {
    gives: { id: 'string' },
    effects: 'external',
  }),
  plannerTool('create_event(title, date:date)', 'Create a calendar event.', {
    gives: { id: 'string', link: 'string' },
    effects: 'external',
  }),
  plannerTool('list_events(date:date)', 'List the events of a day.', { gives: { events: '{title time}[]' } }),
  plannerTool('get_weather(city)', 'Get the current weather of a city.', {
    gives: { city: 'string', temperature: 'number', summary: 'string' },
  }),
  plannerTool('cancel_event(id)', 'Cancel a calendar event.', { effects: 'external', dangerous: true }),
];

/** Tools that say nothing of what they give. */
export const silent: readonly PlannerTool[] = [
  plannerTool('load_page(url)', 'Load a web page.'),
  plannerTool('open_document(path)', 'Open a document.'),
  plannerTool('shorten(text)', 'Shorten a text.'),
  plannerTool('store_note(name, content)', 'Store a note.', { effects: 'state' }),
];

export const documents: readonly PlannerTool[] = [...files, ...texts, ...web];
export const everyTool: readonly PlannerTool[] = [...documents, ...numbers, ...office];

/** What the planner answers, with a line for each node: the tool and its inputs, `<-` what it waits for, `!` an `on_fail`. */
export async function sketch(
  planner: Planner,
  request: string,
  tools: readonly PlannerTool[],
  attempts: readonly PlannerAttempt[] = [],
): Promise<readonly string[]> {
  const answer = await planner.plan({ request, tools, attempts, signal: new AbortController().signal });
  if (!('plan' in answer) || !isPlainObject(answer.plan)) throw new Error('no plan');
  const plan = answer.plan as unknown as SketchedPlan;
  if (plan.status === 'error') return [`error: ${plan.error}`];
  return plan.nodes.map((node) => {
    const waits = node.depends_on.length === 0 ? '' : ` <-${node.depends_on.join(',')}`;
    const failing = node.on_fail === 'halt' ? '' : ` !${node.on_fail}`;
    const again = node.retry === 0 ? '' : ` retry ${node.retry}`;
    return `${node.tool} ${JSON.stringify(node.inputs)}${waits}${failing}${again}`;
  });
}

interface SketchedPlan {
  readonly status: string;
  readonly error?: string;
  readonly nodes: readonly {
    readonly tool: string;
    readonly inputs: JsonObject;
    readonly depends_on: readonly number[];
    readonly on_fail: string;
    readonly retry: number;
  }[];
}
