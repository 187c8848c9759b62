// One life of a process that runs a tool loop: `node test-loop-life.ts FOLDER begin|resume|die`. Its log and its state are in the folder; what
// its tools do to the world is a line each of `world.txt`, the idempotency key. `die` goes on, and is killed once `pay` has done its work.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool, type JsonObject, type Tool } from '@holdfast/core';
import { wrapTools } from '@holdfast/modules';
import { requireApproval } from '@holdfast/policy';
import { createSession, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';

const [folder = '', life] = process.argv.slice(2);
const log = join(folder, 's.jsonl');
const kept = join(folder, 'state.json');

const tools = ['look', 'pay', 'ship'].map(
  (name): Tool =>
    defineTool({
      name,
      description: 'Touches the world.',
      execute: (_input, { idempotencyKey }) => {
        appendFileSync(join(folder, 'world.txt'), `${idempotencyKey}\n`);
        if (name === 'pay' && life === 'die') process.kill(process.pid, 'SIGKILL');
        return `${name} done`;
      },
    }),
);

function open(): Session {
  if (!existsSync(log)) return createSession({ id: 's', store: createJsonlLog(log) });
  const { records, store } = openJsonlLog(log);
  return replay(records, { store });
}

const contexts: JsonObject[string][] = [];
const loop = wrapTools(
  ({ context = null }) => {
    contexts.push(context);
    if (context === null) return { tool_call: [{ name: 'look' }, { name: 'pay' }, { name: 'ship' }] };
    return contexts.length === 1 ? { tool_call: { name: 'look' } } : { answer: 'Done.' };
  },
  { tools, session: open(), policies: [requireApproval({ tools: ['pay'] })] },
);
const state = (): JsonObject => JSON.parse(readFileSync(kept, 'utf8')) as JsonObject;
const result = life === 'begin' ? await loop.invoke({}) : await loop.resume(state());
if (result.reason === 'suspended') writeFileSync(kept, JSON.stringify(result.state));
const calls = result.calls.map(({ id, name, outcome }) => `${id} ${name} ${outcome?.kind ?? 'not run'}`);
process.stdout.write(JSON.stringify({ reason: result.reason, calls, contexts }));
