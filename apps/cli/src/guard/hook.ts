import {
  type Agent,
  claudeCode,
  codex,
  copilot,
  cursor,
  gemini,
  type HookAnswer,
  type HookInput,
  opencode,
  pi,
  refuse,
  runHook,
} from '@holdfast/guard/agents';
import type { GuardHost } from '../user/guard-folder.ts';
import { type Holding, openHolding } from './hold.ts';
import { type OpenGuard, openGuard } from './session.ts';

export const agents: Readonly<Record<string, Agent>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  cursor,
  copilot,
  opencode,
  pi,
};

/** An event of an agent, as its hook gets it. */
export interface HookQuestion {
  /** Name of the agent. */
  readonly agent: string;
  /** The hook's input. */
  readonly text: string;
  /** How long a question may wait for its answer, in milliseconds. Default 0. */
  readonly waitMs?: number;
  /** The agent's process, for calls of MCP servers. */
  readonly client?: string | undefined;
}

export interface HookProcess extends GuardHost {
  /** When the answer is due, by `Date.now()`. */
  readonly untilMs: number;
  pause(ms: number): Promise<void>;
}

/** Answers an event in this process. */
export function answerHook(question: HookQuestion, host: HookProcess): Promise<HookAnswer> {
  const hold = { pause: host.pause, goesOn: () => true };
  const { client } = question;
  return answerWith(question, (agent, input) => openGuard(agent, input, { ...host, client }, host), hold);
}

/** Answers an event by the guard that `open` opens for it. Rejects only if the guard's log cannot be let go. */
export async function answerWith(
  { agent: name, text, waitMs = 0 }: HookQuestion,
  open: (agent: Agent, input: HookInput) => Promise<OpenGuard>,
  hold: Pick<Holding, 'pause' | 'goesOn'>,
): Promise<HookAnswer> {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent === undefined) return refuse(`Holdfast knows no agent \`${name.slice(0, 100)}\`, so the call is denied.`);
  let opened: OpenGuard | undefined;
  try {
    return await runHook(agent, text, async (input) => {
      opened = await openHolding(() => open(agent, input), { ...hold, waitMs });
      return opened.guard;
    });
  } finally {
    await opened?.end();
  }
}
