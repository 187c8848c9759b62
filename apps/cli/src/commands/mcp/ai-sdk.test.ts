import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { readLog } from '@holdfast/session/jsonl';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder, toUserFolder } from '../../testing/test-folder.ts';
import { toTool, trustHere } from '../../testing/test-program.ts';

const program = fileURLToPath(new URL('../../main.ts', import.meta.url));

test("the AI SDK's client uses what `serve --mcp` offers: policies hold, and its user is asked", async () => {
  await using folder = await createFolder({
    'plugins/greet.js': toTool('greet', "return 'Hello.';").replace('dangerous: false', 'dangerous: true'),
    'a.txt': 'hi\n',
  });
  const { path } = folder;
  await trustHere(path);
  const args = ['--conditions=holdfast-source', program, 'serve', '--mcp', '--session', 'work'];
  // The process starts from bundled sources, as those of all tests do.
  const { NODE_COMPILE_CACHE = '', NODE_OPTIONS = '' } = process.env;
  const env = { HOLDFAST_HOME: toUserFolder(path), NODE_COMPILE_CACHE, NODE_OPTIONS };
  const transport = new StdioTransport({ command: process.execPath, args, cwd: path, env, stderr: 'ignore' });
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
  onTestFinished(() => client.close());
  const questions: string[] = [];
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => {
    questions.push(params.message);
    return { action: 'accept', content: { approve: questions.length === 1 } };
  });
  const tools = await client.tools();
  const call = async (name: string, input: object): Promise<string> => {
    const options = { toolCallId: name, messages: [], context: undefined };
    return JSON.stringify(await tools[name]?.execute(input, options));
  };
  const write = { path: 'a.txt', content: 'new\n' };
  expect(await call('write_file', write)).toContain('read');
  expect(await call('read_file', { path: 'a.txt' })).toContain('hi');
  expect(await call('write_file', write)).not.toContain('"isError":true');
  expect(await call('greet', {})).toContain('Hello.');
  expect(await call('greet', {})).toContain('"isError":true');
  expect(questions).toEqual([expect.stringContaining('`greet`'), expect.stringContaining('`greet`')]);
  const { records } = readLog(join(path, '.holdfast', 'sessions', 'work.jsonl'));
  const ends = records.filter(({ type }) => type === 'tool-call-end');
  expect(ends.map(({ outcome }) => (outcome as { readonly kind: string }).kind)).toEqual([
    'denied',
    'ok',
    'ok',
    'ok',
    'denied',
  ]);
}, 300_000);
