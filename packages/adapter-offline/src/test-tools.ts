import type { JsonObject, Message, Model, ToolDeclaration } from '@holdfast/core';
import { offlineModel } from './offline-model.ts';

/** Parses a tool from a line such as `read_file(path, startLine?:integer)`; the default type is string, `a|b` are choices. */
export function toolFrom(signature: string, description: string): ToolDeclaration {
  const [, name = '', list = ''] = /^([\w.-]+)\((.*)\)$/u.exec(signature) ?? [];
  const parameters = list.split(',').flatMap((each) => {
    const [, key, optional, type = 'string'] = /^\s*(\w+)(\?)?(?::(\S+))?\s*$/u.exec(each) ?? [];
    return key === undefined ? [] : [{ key, isRequired: optional === undefined, schema: schemaFor(type) }];
  });
  const properties = Object.fromEntries(parameters.map(({ key, schema }) => [key, schema]));
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ key }) => key);
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } };
}

function schemaFor(type: string): JsonObject {
  if (type.includes('|')) return { enum: type.split('|') };
  if (type.endsWith('[]')) return { type: 'array', items: { type: type.slice(0, -2) } };
  return type === 'date' || type === 'email' || type === 'uri' ? { type: 'string', format: type } : { type };
}

export const fileTools: readonly ToolDeclaration[] = [
  toolFrom('list_files(folder?)', 'List the files of a folder. Does not look below.'),
  toolFrom('read_file(path)', 'Read a text file.'),
  toolFrom('write_file(path, content)', 'Write a text file, replacing what is there.'),
  toolFrom('delete_file(path)', 'Delete one file.'),
  toolFrom('list_todos()', 'List every TODO comment in the source files.'),
  toolFrom('count_words(path)', 'Count the words and lines of a file.'),
];

export const foreignTools: readonly ToolDeclaration[] = [
  toolFrom('weather_fetcher(city)', 'Get the weather of a city.'),
  toolFrom(
    'convert_temperature(value:number, from:celsius|fahrenheit, to:celsius|fahrenheit)',
    'Convert a temperature.',
  ),
  toolFrom('convert_currency(amount:number, from, to)', 'Convert an amount of money to another currency.'),
  toolFrom('send_mail(to:email, subject, body)', 'Send an e-mail.'),
  toolFrom('create_event(title, date:date)', 'Create a calendar event.'),
  toolFrom('set_timer(minutes:integer)', 'Start a kitchen timer.'),
  toolFrom('book_flight(origin, destination, date:date)', 'Book a flight.'),
  toolFrom('search_news(query, top?:integer)', 'Search the news.'),
  toolFrom('fetch_page(url:uri)', 'Fetch a web page.'),
  toolFrom('tag_photos(photo, tags:red|green|blue)', 'Put a tag on a photo.'),
];

/** A call as written in the tables: name and arguments. */
export type Call = readonly [name: string, given: JsonObject];

/** A tool's reply in a played run. */
export interface Reply {
  readonly success: boolean;
  readonly text: string;
}

export interface Played {
  readonly calls: readonly Call[];
  readonly answer: string;
}

/** Plays a complete run of the model; `reply` answers each call. */
export async function play(
  request: string | readonly Message[],
  tools: readonly ToolDeclaration[],
  reply: (call: Call) => Reply = () => ({ success: true, text: 'done' }),
  model: Model = offlineModel(),
): Promise<Played> {
  const messages: Message[] = typeof request === 'string' ? [{ role: 'user', text: request }] : [...request];
  const calls: Call[] = [];
  for (;;) {
    let answer = '';
    let call: Call | undefined;
    const finishes: string[] = [];
    for await (const event of model.stream({ messages, tools, signal: new AbortController().signal })) {
      if (event.type === 'text-delta') answer += event.text;
      if (event.type === 'tool-call') call = [event.name, event.arguments as JsonObject];
      if (event.type === 'finish') finishes.push(event.reason);
    }
    if (finishes.join() !== (call === undefined ? 'stop' : 'tool-calls'))
      throw new Error(`it finished with ${finishes.join()}`);
    if (call === undefined) return { calls, answer };
    if (calls.length >= 3) throw new Error('the model does not finish');
    const id = `call-${calls.length + 1}`;
    const { success, text } = reply(call);
    calls.push(call);
    messages.push({ role: 'assistant', text: '', calls: [{ id, name: call[0], arguments: call[1] }] });
    messages.push({ role: 'tool', callId: id, name: call[0], success, text });
  }
}
