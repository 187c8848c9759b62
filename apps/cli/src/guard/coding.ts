import { join } from 'node:path';
import type { Decision, Policy } from '@holdfast/core';
import { guardSelf } from '@holdfast/guard';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { knownChecks, releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { observe, packPolicies } from '@holdfast/policy';
import { userFolder } from '../user/folder.ts';
import { type GuardHost, guardFolder, resolveLinks } from '../user/guard-folder.ts';
import { readHttpPlace } from './http-place.ts';
import { readOff } from './off.ts';
import { configFolder, homeFolder } from './place.ts';
import type { GuardFiles } from './rules.ts';

const settings =
  '.claude/settings.json .claude/settings.local.json .codex/hooks.json .codex/config.toml .gemini/settings.json .gemini/extensions .cursor/hooks.json .copilot/hooks .copilot/settings.json .pi/agent/extensions .pi/agent/settings.json'.split(
    ' ',
  );

export interface GuardRules {
  readonly agent: string;
  /** Of the user and the workspace. */
  readonly files: GuardFiles;
}

/** The policies in force for a call. While the guard is off, they are only observed: the log has what they would have answered. */
export function guardPolicies({ agent, files }: GuardRules, host: GuardHost): readonly Policy[] {
  const [self, ...others] = codingPolicies(agent, host, files);
  const isOff = readOff(host, Date.now()) !== undefined;
  return self === undefined ? [] : [self, ...(isOff ? others.map(observe) : others)];
}

/**
 * The preset `coding`: secrets, destructive commands, what runs by itself, checks before a push, and the guard itself. Then the rules of
 * the user and the workspace.
 */
export function codingPolicies(
  agent: string,
  host: GuardHost,
  { policies, checks }: GuardFiles = { policies: [], checks: [] },
): readonly Policy[] {
  const home = homeFolder(host);
  const plugins = ['plugin', 'plugins'].map((name) => join(configFolder(host), 'opencode', name));
  const own = [guardFolder(host), userFolder(host), ...plugins, ...settings.map((path) => join(home, path))];
  const paths = [...new Set([...own, ...own.map(resolveLinks)])];
  const port = readHttpPlace(host)?.port;
  return [
    guardSelf({ paths, processes: [process.pid], ports: port === undefined ? [] : [port] }),
    ...readyPacks(checks).map((policy) => (policy.name === 'checks-first' ? namesRun(policy, agent) : policy)),
    ...policies,
  ];
}

let ready: { readonly checks: string; readonly policies: readonly Policy[] } | undefined;

/** The policies keep no state, so a daemon creates them once: that takes longer than a decision. */
function readyPacks(checks: readonly string[]): readonly Policy[] {
  const key = JSON.stringify(checks);
  if (ready?.checks !== key) {
    const policies = [
      ...packPolicies(filesystemGuard),
      ...packPolicies(shellGuard),
      // Its other policy compares versions of files, which a guard does not have: agents do that themselves.
      ...packPolicies(releaseOrder, { config: { checks: [...knownChecks, ...checks] } }).filter(
        ({ name }) => name === 'checks-first',
      ),
    ];
    ready = { checks: key, policies };
  }
  return ready.policies;
}

/** Codex reports no exit code: the success of a command is known only from the command that runs it. */
function namesRun(policy: Policy, agent: string): Policy {
  if (agent !== 'codex') return policy;
  const hint =
    'Codex does not report whether a command succeeded: run both in one call, such as `npm test && git push`, or the check alone as `holdfast guard run -- npm test`.';
  return {
    ...policy,
    check(call, context) {
      const told = (decision: Decision): Decision =>
        decision.type === 'deny' ? { ...decision, reason: `${decision.reason} ${hint}` } : decision;
      const decision = policy.check(call, context);
      return decision instanceof Promise ? decision.then(told) : told(decision);
    },
  };
}
