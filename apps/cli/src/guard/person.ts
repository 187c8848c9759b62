import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';

const agentNames = /^(?:claude|codex|gemini|opencode|pi|cursor-agent|copilot)(?:\.exe)?$/;

/** Set by agents for the commands they run. */
const marks: Readonly<Record<string, string>> = {
  CLAUDECODE: 'claude',
  GEMINI_CLI: 'gemini',
  PI_CODING_AGENT: 'pi',
  OPENCODE: 'opencode',
};

/**
 * Requires a person: a terminal, and no agent among the parent processes. An agent that runs its own code as the same user can still
 * pretend to be a person.
 *
 * @throws HoldfastError `guard.person_required`.
 */
export function requirePerson(what: string, host: Pick<Host, 'stdin' | 'environment'>): void {
  const why = findImpostor(host);
  if (why !== undefined) {
    throw new HoldfastError('guard.person_required', `Only a person at a terminal can ${what}, and ${why}.`);
  }
}

/** Why this does not run for a person; `undefined`: it does. */
export function findImpostor({ stdin, environment }: Pick<Host, 'stdin' | 'environment'>): string | undefined {
  const mark = Object.keys(marks).find((name) => environment[name] !== undefined);
  const agent = mark === undefined ? findAgent(process.ppid) : marks[mark];
  if (agent !== undefined) return `this runs below \`${agent}\``;
  return stdin.isTTY === true ? undefined : 'stdin is not a terminal';
}

/** The agent among the processes around, where the system shows them as files. */
function findAgent(pid: number): string | undefined {
  for (let at = pid, depth = 0; at > 1 && depth < 64; depth += 1) {
    const process = readProcess(at);
    if (process === undefined) return undefined;
    const agent = process.words.map((word) => basename(word)).find((word) => agentNames.test(word));
    if (agent !== undefined) return agent;
    at = process.parent;
  }
  return undefined;
}

function readProcess(pid: number): { readonly words: readonly string[]; readonly parent: number } | undefined {
  try {
    const [, parent = '0'] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    // Program and script: `node /usr/bin/codex`.
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, 2);
    return { words, parent: Number(parent) };
  } catch {
    // Another system than Linux, or the process has ended: then the terminal alone tells.
    return undefined;
  }
}
