import { type Agent, claudeCode, codex, type HookAnswer, refuse, runHook } from '@holdfast/guard/agents';
import type { GuardHost } from './place.ts';
import { type OpenGuard, openGuard } from './session.ts';

export const agents: Readonly<Record<string, Agent>> = { 'claude-code': claudeCode, codex };

/** Installed hooks have ten seconds; what is not decided by then would be let through. */
const answerWithinMs = 8_000;

export interface HookProcess extends GuardHost {
  readonly input: AsyncIterable<Uint8Array | string>;
  pause(ms: number): Promise<void>;
}

/** Answers one event of an agent. Never rejects: what cannot be decided in time is denied. */
export async function answerHook(name: string, host: HookProcess): Promise<HookAnswer> {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent === undefined) return refuse(`Holdfast knows no agent \`${name.slice(0, 100)}\`, so the call is denied.`);
  const untilMs = Date.now() + answerWithinMs;
  let opened: OpenGuard | undefined;
  const answering = readAll(host.input).then((text) =>
    runHook(agent, text, async (input) => {
      opened = await openGuard(agent, input, host, { untilMs: untilMs - 500, pause: host.pause });
      return opened.guard;
    }),
  );
  const late = host
    .pause(answerWithinMs)
    .then(() => refuse('Holdfast could not decide this call in time, so it is denied.'));
  try {
    return await Promise.race([answering, late]);
  } catch (thrown) {
    return refuse(`Holdfast could not read the hook's input, so the call is denied: ${String(thrown)}`);
  } finally {
    await opened?.session.close();
  }
}

async function readAll(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString('utf8');
}
