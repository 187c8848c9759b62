import type { JsonObject, Message, Model, ToolDeclaration } from '@holdfast/core';
import { offlineModel } from './offline-model.ts';

/** A tool from a line such as `read_file(path, startLine?:integer)`; types are string unless said, `a|b` are choices. */
export function toolFrom(signature: string, description: string): ToolDeclaration {
  const [, name = '', list = ''] = /^([\w-]+)\((.*)\)$/u.exec(signature) ?? [];
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  for (const part of list.split(',').filter((each) => each.trim() !== '')) {
    const [, key = '', optional, type = 'string'] = /^\s*(\w+)(\?)?(?::(\S+))?\s*$/u.exec(part) ?? [];
    properties[key] = schemaFor(type);
    if (optional === undefined) required.push(key);
  }
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } };
}

function schemaFor(type: string): JsonObject {
  if (type.includes('|')) return { enum: type.split('|') };
  if (type.endsWith('[]')) return { type: 'array', items: { type: type.slice(0, -2) } };
  return type === 'date' ? { type: 'string', format: 'date' } : { type };
}

export const fileTools: readonly ToolDeclaration[] = [
  toolFrom('list_files(path?)', 'List the files of the workspace.'),
  toolFrom('read_file(path, startLine?:integer, endLine?:integer)', 'Read a text file, or a range of its lines.'),
  toolFrom('write_file(path, content)', 'Write a text file, replacing what is there.'),
  toolFrom('edit_file(path, oldText, newText)', 'Replace one piece of text in a file by another.'),
  toolFrom('delete_file(path)', 'Delete a file.'),
  toolFrom('glob_files(pattern)', 'Find files whose path matches a glob pattern.'),
  toolFrom('grep_files(pattern)', 'Search the contents of files for a regular expression.'),
];

export const pluginTools: readonly ToolDeclaration[] = [
  toolFrom('search_text(query, path?)', 'Search all text files for a word or phrase.'),
  toolFrom('list_todos()', 'List TODO and FIXME comments in source files.'),
  toolFrom('count_words(path)', 'Count the words, lines and characters of a file.'),
  toolFrom('summarize_csv(path)', 'Summarize a CSV file: columns, types and basic statistics.'),
  toolFrom('query_json(path, query)', 'Read a value from a JSON file by its keys.'),
  toolFrom('delete_files(pattern)', 'Delete all files that match a glob pattern.'),
];

export const foreignTools: readonly ToolDeclaration[] = [
  toolFrom('weather_fetcher(city)', 'Get the current weather of a city.'),
  toolFrom('convert_currency(amount:number, from, to)', 'Convert an amount of money from one currency to another.'),
  toolFrom('send_mail(to, subject, body)', 'Send an e-mail.'),
  toolFrom('create_event(title, date:date)', 'Create a calendar event.'),
  toolFrom('set_timer(minutes:integer)', 'Start a kitchen timer.'),
  toolFrom('switch_light(room, on:boolean, color?:red|green|blue)', 'Switch the light of a room.'),
  toolFrom('tag_photos(photo, tags:string[])', 'Put tags on a photo.'),
];

export const homeTools: readonly ToolDeclaration[] = [
  toolFrom('search_flights(origin, destination, date)', 'Search flights between two airports.'),
  toolFrom('book_hotel(city, checkIn:date, nights:integer, guests?:integer)', 'Book a hotel room.'),
  toolFrom('get_stock_price(symbol)', 'Get the latest price of a stock.'),
  toolFrom('translate_text(text, language)', 'Translate text into another language.'),
  toolFrom('create_issue(title, body?, labels?:string[])', 'Create an issue in the tracker.'),
  toolFrom('close_issue(number:integer)', 'Close an issue in the tracker.'),
  toolFrom('list_issues(state?:open|closed|all)', 'List the issues of the tracker.'),
  toolFrom('add_contact(name, phone?, email?)', 'Add a person to the address book.'),
  toolFrom('resize_image(path, width:integer, height:integer)', 'Resize an image file.'),
  toolFrom('play_song(title, artist?)', 'Play a song.'),
  toolFrom('search_web(query)', 'Search the web.'),
  toolFrom('calculate(expression)', 'Evaluate an arithmetic expression.'),
  toolFrom('restart_service(name)', 'Restart a system service.'),
];

/** A call as the tables write it: the name and its arguments. */
export type Call = readonly [name: string, given: JsonObject];

/** What a tool answers in a played run. */
export interface Reply {
  readonly success: boolean;
  readonly text: string;
}

export interface Played {
  readonly calls: readonly Call[];
  readonly answer: string;
}

/** Plays a whole run of the model: `reply` answers each call, given how many were made before. */
export async function play(
  request: string | readonly Message[],
  tools: readonly ToolDeclaration[],
  reply: (call: Call, made: number) => Reply,
  model: Model = offlineModel(),
): Promise<Played> {
  const messages: Message[] = typeof request === 'string' ? [{ role: 'user', text: request }] : [...request];
  const calls: Call[] = [];
  for (;;) {
    let answer = '';
    let call: Call | undefined;
    let finishes = 0;
    for await (const event of model.stream({ messages, tools, signal: new AbortController().signal })) {
      if (event.type === 'text-delta') answer += event.text;
      if (event.type === 'tool-call') call = [event.name, event.arguments as JsonObject];
      if (event.type === 'finish') finishes += 1;
    }
    if (finishes !== 1) throw new Error(`expected one finish, got ${finishes}`);
    if (call === undefined) return { calls, answer };
    if (calls.length >= 20) throw new Error('the model does not come to an end');
    const id = `call-${calls.length + 1}`;
    const { success, text } = reply(call, calls.length);
    calls.push(call);
    messages.push({ role: 'assistant', text: '', calls: [{ id, name: call[0], arguments: call[1] }] });
    messages.push({ role: 'tool', callId: id, name: call[0], success, text });
  }
}

const results: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  [
    'list_todos',
    [
      { file: 'src/a.ts', line: 3, text: 'TODO fix' },
      { file: 'src/b.ts', line: 9, text: 'FIXME later' },
    ],
  ],
  ['list_files', ['a.md', 'src/b.ts']],
  ['glob_files', ['src/a.ts', 'src/b.ts']],
  ['count_words', { words: 12, lines: 3 }],
  ['weather_fetcher', { temperature: 21 }],
  ['grep_files', [{ path: 'src/a.ts', line: 1, text: 'foo' }]],
  ['search_text', [{ file: 'x.md', line: 4, text: 'hit' }]],
  ['summarize_csv', { rows: 10, columns: ['a', 'b'] }],
  ['query_json', 42],
]);

/** Answers every call as the tools above would. */
export function succeed([name]: Call): Reply {
  const value = results.get(name);
  return { success: true, text: value === undefined ? `${name} done.` : JSON.stringify(value) };
}

export const workspaceTools: readonly ToolDeclaration[] = [...fileTools, ...pluginTools];
export const allTools: readonly ToolDeclaration[] = [...workspaceTools, ...foreignTools];
