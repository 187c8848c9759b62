import { definePolicy, deny, isHoldfastError, type Policy } from '@holdfast/core';
import { factPolicy } from '@holdfast/facts/rules';
import { readRuleFile } from '@holdfast/registry/rules';
import { userFolder } from '../user/folder.ts';
import type { GuardHost } from '../user/guard-folder.ts';

/** The content of the rule files of the user and of the workspace. */
export interface GuardFiles {
  readonly policies: readonly Policy[];
  /** Commands that count as checks before a release, besides the known ones. The user's alone. */
  readonly checks: readonly string[];
  /** The files that a call may change are kept. The user's word alone. */
  readonly checkpoints?: boolean;
  /** Where sessions are kept instead of files. The user's word alone. */
  readonly store?: string;
}

/** The rules of the user's own `holdfast.policy.json` or `.yaml`, and those of the workspace, which only tighten. */
export async function readGuardRules(workspace: string, host: GuardHost): Promise<GuardFiles> {
  const files = await Promise.all([readRules(userFolder(host), 'user'), readRules(workspace, 'workspace')]);
  const store = files.find((file) => file.store !== undefined)?.store;
  return {
    ...(store && { store }),
    policies: files.flatMap(({ policies }) => policies),
    checks: files.flatMap(({ checks }) => checks),
    checkpoints: files.some(({ checkpoints }) => checkpoints),
  };
}

async function readRules(folder: string, owner: 'user' | 'workspace'): Promise<GuardFiles> {
  const id = `${owner}-rules`;
  try {
    const found = await readRuleFile(folder, owner);
    if (found === undefined) return { policies: [], checks: [] };
    const { name, rules, lines, ...others } = found;
    return { ...others, policies: [factPolicy(rules, { id, source: `${owner}/${name}`, lines })] };
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.reason !== 'policy') throw thrown;
    // A file that cannot be read may deny this call. A policy says so, so that the log has it.
    const { message } = thrown;
    return { policies: [definePolicy({ name: 'broken-rules', id, check: () => deny(message) })], checks: [] };
  }
}
