import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { blockingWays, toBlockingTool } from './blocking-tools.ts';

// A program of its own, because what it shows is that it stands still: calls tools that block in the process of their host, and
// prints how often that came to anything else meanwhile, and what became of the calls.
const [base = ''] = process.argv.slice(2);
for (const [index, way] of blockingWays.entries()) {
  const folder = join(base, String(index));
  mkdirSync(folder);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  writeFileSync(join(folder, 'block.mjs'), toBlockingTool(way, way.passing));
  const { tools } = await loadTools(folder, { isolation: 'in-process' });
  // The time of the call is over one millisecond after it has begun to block.
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    after(_delayMs, run) {
      timers.add(run);
      return () => void timers.delete(run);
    },
  };
  let turns = 0;
  const outcome = await executeToolCall(
    { id: 'c', name: 'block', arguments: {} },
    {
      tools,
      session: createSession(),
      clock,
      onEvent(event) {
        if (event.type !== 'tool-call-progress') return;
        setTimeout(() => {
          turns += 1;
          for (const run of timers) run();
        }, 1);
      },
    },
  );
  console.log(JSON.stringify({ what: way.what, turns, outcome }));
}
