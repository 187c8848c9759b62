import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { keepOpen, mcpTools, serveMcp } from '@holdfast/mcp';
import { openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { cpuMsOfProcess } from './cpu-time.ts';
import type { Figure, FigureReport } from './report.ts';

const program = fileURLToPath(new URL('mcp-server.ts', import.meta.url));
const calls = 300;
const warmUpCalls = 30;
const lists = 7;
const manyCalls = 100_000;

/** The cost of the proxy for a call, of importing a thousand tools, and of many calls in memory. */
export async function measureMcp(): Promise<FigureReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-mcp-'));
  try {
    const added = await measureCalls(join(folder, 'calls.jsonl'));
    const imported = await measureImport();
    const kept = await measureMemory(join(folder, 'many.jsonl'));
    return { name: 'mcp: a call through the proxy, an import, many calls', figures: [...added, ...imported, ...kept] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Connected {
  readonly client: Client;
  readonly pid: number;
}

async function connect(...args: readonly string[]): Promise<Connected> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
  const transport = new StdioClientTransport({ command: process.execPath, args: [program, ...args] });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0 };
}

/** By turns. CPU time of the asked process tells its cost from the load of the machine, a relay what the SDK and the pipes cost. */
async function measureCalls(log: string): Promise<readonly Figure[]> {
  const subjects = [
    { name: 'direct', ...(await connect('server')) },
    { name: 'through a relay of the SDK', ...(await connect('relay')) },
    { name: 'through the proxy', ...(await connect('proxy', log)) },
  ].map((subject) => ({ ...subject, samples: [] as number[], cpuMs: 0 }));
  for (let round = 0; round < calls + warmUpCalls; round += 1) {
    for (const subject of subjects) {
      if (round === warmUpCalls) subject.cpuMs = cpuMsOfProcess(subject.pid);
      const startedAtMs = performance.now();
      await subject.client.callTool({ name: 'tool_7', arguments: { text: 'a' } });
      if (round >= warmUpCalls) subject.samples.push(performance.now() - startedAtMs);
    }
  }
  for (const subject of subjects) subject.cpuMs = (cpuMsOfProcess(subject.pid) - subject.cpuMs) / calls;
  await Promise.all(subjects.map(({ client }) => client.close()));
  const [direct = Number.NaN, relayed = Number.NaN, proxied = Number.NaN] = subjects.map(({ samples }) =>
    median(samples),
  );
  return [
    ...subjects.flatMap(({ name, samples, cpuMs }): readonly Figure[] => [
      { name: `${name}, p50`, value: round(median(samples)), unit: 'ms' },
      ...(Number.isNaN(cpuMs) ? [] : [{ name: `${name}, CPU time`, value: round(cpuMs), unit: 'ms' }]),
    ]),
    { name: 'added by the proxy, p50', value: round(proxied - direct), unit: 'ms', goal: 1 },
    { name: 'of that by Holdfast, p50', value: round(proxied - relayed), unit: 'ms' },
  ];
}

async function measureImport(): Promise<readonly Figure[]> {
  const listed: number[] = [];
  const imported: number[] = [];
  for (let round = 0; round < lists; round += 1) {
    let startedAtMs = performance.now();
    const { client } = await connect('server');
    await client.listTools();
    listed.push(performance.now() - startedAtMs);
    await client.close();
    startedAtMs = performance.now();
    const args = [program, 'server'];
    const tools = await mcpTools({ name: 'bench', command: process.execPath, args, era: 'legacy' });
    imported.push(performance.now() - startedAtMs);
    await tools.close();
  }
  const ratio = median(imported) / median(listed);
  return [
    { name: 'the SDK starts a server and lists 1,000 tools', value: round(median(listed)), unit: 'ms' },
    { name: 'mcpTools does, and imports them', value: round(median(imported)), unit: 'ms' },
    { name: 'mcpTools against the SDK', value: round(ratio), unit: 'x', goal: 2 },
  ];
}

async function measureMemory(log: string): Promise<readonly Figure[]> {
  const [nearServer, farServer] = InMemoryTransport.createLinkedPair();
  serveStdio(
    () => {
      const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] }));
      server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'x'.repeat(200) }] }));
      return server;
    },
    { transport: farServer },
  );
  const source = await mcpTools({ name: 'bench', transport: () => nearServer, era: 'legacy', dangerous: false });
  const session = await openSession(jsonlStore(log), { id: 'many' });
  const serving = serveMcp(source, { sessions: keepOpen(session) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(near);
  const heaps: number[] = [];
  for (let done = 1; done <= manyCalls; done += 1) {
    await client.callTool({ name: 'a', arguments: {} });
    if (done === Math.ceil(manyCalls / 10) || done === manyCalls) heaps.push(usedHeap());
  }
  await client.close();
  await session.close();
  await source.close();
  const [early = 0, late = 0] = heaps;
  const perCall = (late - early) / (manyCalls - Math.ceil(manyCalls / 10));
  return [
    {
      name: `heap after a tenth of ${manyCalls.toLocaleString('en')} calls`,
      value: round(early / 2 ** 20),
      unit: 'MiB',
    },
    { name: 'heap after all', value: round(late / 2 ** 20), unit: 'MiB' },
    { name: 'kept for a call', value: Math.max(0, Math.round(perCall)), unit: 'bytes' },
  ];
}

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

function median(samples: readonly number[]): number {
  return samples.toSorted((left, right) => left - right)[Math.floor(samples.length / 2)] ?? Number.NaN;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
