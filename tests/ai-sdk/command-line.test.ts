import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer } from './test-server.ts';

const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

function chunk(delta: object, finishReason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

test('the program writes a file for a model behind a real provider package', async () => {
  const input = JSON.stringify({ path: 'note.txt', content: 'Lima\n' });
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'write_file', arguments: input } };
  await using server = await startServer([
    { events: [chunk({ role: 'assistant', tool_calls: [call] }), chunk({}, 'tool_calls'), '[DONE]'] },
    { events: [chunk({ role: 'assistant', content: 'I wrote it down.' }), chunk({}, 'stop'), '[DONE]'] },
  ]);
  const workspace = await mkdtemp(join(tmpdir(), 'holdfast-model-'));
  try {
    const parameters = ['run', 'Write Lima down.', '--model', 'openai-compatible:m', '--workspace', workspace];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=holdfast-source', program, ...parameters],
      // In this folder the provider's package is installed.
      {
        cwd: fileURLToPath(new URL('.', import.meta.url)),
        env: { ...process.env, NO_COLOR: '1', OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_COMPATIBLE_API_KEY: 'k' },
      },
    );
    expect(stdout).toContain('I wrote it down.');
    expect(await readFile(join(workspace, 'note.txt'), 'utf8')).toBe('Lima\n');
    expect(server.bodies[0]).toMatchObject({ model: 'm', stream_options: { include_usage: true } });
  } finally {
    await rm(workspace, { recursive: true });
  }
});
