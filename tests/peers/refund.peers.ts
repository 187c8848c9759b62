import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChatServer } from './chat-server.ts';
import { folder, installPeers, versions } from './install.ts';

beforeAll(installPeers);

const base = mkdtempSync(join(tmpdir(), 'holdfast-peers-'));
afterAll(() => rmSync(base, { recursive: true }));
let runs = 0;

/** Starts a program that refunds order 17, and again if it was killed in the tool. Returns the ledger's entries. */
async function refund(
  program: string,
  { input = { order: 17, euros: 250 }, dies = false }: { readonly input?: object; readonly dies?: boolean } = {},
) {
  runs += 1;
  const [ledger, checkpoints] = [join(base, `ledger-${runs}`), join(base, `checkpoints-${runs}`)];
  await using server = await startChatServer([{ id: 'call-1', name: 'refund', arguments: JSON.stringify(input) }]);
  const start = async (extra: Readonly<Record<string, string>>) => {
    const child = spawn(
      process.execPath,
      ['--conditions=holdfast-source', join(folder, 'programs', `${program}.mjs`)],
      {
        env: { PATH: process.env['PATH'], MODEL_URL: server.url, LEDGER: ledger, CHECKPOINTS: checkpoints, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    }
    await once(child, 'close');
    return { text, signal: child.signalCode };
  };
  if (dies) expect((await start({ DIES: '1' })).signal).toBe('SIGKILL');
  const { text } = await start({});
  const entries = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];
  return { entries, text };
}

describe.each([
  { program: 'ai-sdk', afterKill: 2, extraRuns: true },
  { program: 'openai-agents', afterKill: 2, extraRuns: true },
  { program: 'pi', afterKill: 2, extraRuns: true },
  { program: 'langgraph', afterKill: 2, extraRuns: true },
  { program: 'mastra', afterKill: 2, extraRuns: true },
  { program: 'holdfast', afterKill: 1, extraRuns: false },
])('$program', ({ program, afterKill, extraRuns }) => {
  test('refunds an order once', async () => {
    const { entries, text } = await refund(program);
    expect(text).toContain('Done.');
    expect(entries).toEqual(['17 250']);
  });

  test('killed after the refund and started again', async () => {
    const { entries, text } = await refund(program, { dies: true });
    expect(text).toContain('Done.');
    expect(entries).toHaveLength(afterKill);
    expect(text.includes('in-doubt')).toBe(program === 'holdfast');
  });

  test('an argument that the tool does not declare', async () => {
    const { entries } = await refund(program, { input: { order: 17, euros: 250, dryRun: true } });
    expect(entries.length > 0).toBe(extraRuns);
  });
});

const page = readFileSync(join(import.meta.dirname, '../../apps/docs/guide/index.md'), 'utf8');

test.each([
  { program: 'ai-sdk', row: `AI SDK ${versions.ai}` },
  { program: 'openai-agents', row: `OpenAI Agents ${versions['@openai/agents']}` },
  { program: 'mastra', row: `Mastra ${versions['@mastra/core']}` },
  { program: 'langgraph', row: `LangGraph ${versions['@langchain/langgraph']}, resumed from its checkpoint` },
  { program: 'pi', row: `pi ${versions['@earendil-works/pi-agent-core']}` },
  { program: 'holdfast', row: 'Holdfast, resumed from its log' },
])('the home page has the version and the lines of $program', ({ program, row }) => {
  const text = readFileSync(join(import.meta.dirname, 'programs', `${program}.mjs`), 'utf8');
  const lines = text.split('\n').filter((line) => line.trim() !== '').length;
  expect(page).toContain(`| ${row} | ${lines} | refunded ${program === 'holdfast' ? 'once' : 'twice'}`);
});
