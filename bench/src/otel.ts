import { allow, definePolicy, defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { traceSession } from '@holdfast/otel';
import { createSession, type Session } from '@holdfast/session';
import { trace } from '@opentelemetry/api';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { compare, cpuNow, type Extent, everything, limitRounds, type Subject } from './compare.ts';
import type { TimeReport } from './report.ts';

const operations = 500;
const tool = defineTool({ name: 'look', description: 'Looks.', effects: 'none', execute: () => 'seen' });
const policies = [definePolicy({ name: 'looking', check: () => allow })];
const drop = {
  export: (_: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
  shutdown: async () => undefined,
};

/** The cost of a governed call without a tracer, with one that no SDK has set up, and with spans that are made and dropped. */
export async function measureOtel(extent: Extent = everything): Promise<TimeReport> {
  const sdk = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: drop })] }).getTracer('bench');
  const untraced = 'no tracer';
  const rows = await compare(
    [
      calls(untraced, () => undefined),
      // Another session of the process has one.
      calls('no tracer, beside a traced session', () => void traceSession(createSession(), { tracer: sdk }), 1.05),
      calls('a tracer without an SDK', (session) => void traceSession(session, { tracer: trace.getTracer('bench') })),
      calls('a tracer of the SDK', (session) => void traceSession(session, { tracer: sdk })),
      calls(
        'a tracer of the SDK, with content',
        (session) => void traceSession(session, { tracer: sdk, content: true }),
      ),
    ],
    { ...limitRounds({ rounds: 40, warmUpRounds: 10 }, extent), now: cpuNow },
  );
  const notes = ['CPU time of the process. A call of one tool with one policy, in memory; exported spans are dropped.'];
  return { name: 'otel: a governed call', notes, rows };

  function calls(name: string, prepareSession: (session: Session) => void, goal?: number): Subject {
    return {
      name,
      operations,
      ...(name === untraced ? {} : { against: [{ name: untraced, ...(goal === undefined ? {} : { goal }) }] }),
      prepare: () => {
        const session = createSession();
        prepareSession(session);
        return async () => {
          for (let count = 0; count < operations; count += 1) {
            const { kind } = await executeToolCall(
              { name: 'look', arguments: {} },
              { tools: [tool], session, policies },
            );
            if (kind !== 'ok') throw new Error(`the call ended as \`${kind}\``);
          }
        };
      },
    };
  }
}
