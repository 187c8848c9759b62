import { definePolicy, deny, isHoldfastError, type Policy } from '@holdfast/core';
import { factPolicy } from '@holdfast/facts/rules';
import { readRuleFile } from '@holdfast/registry/node';
import { userFolder } from '../user/folder.ts';
import type { GuardHost } from './place.ts';

/** The rules of the user's own `holdfast.policy.json`, and those of the workspace, which only tighten. */
export async function readGuardRules(workspace: string, host: GuardHost): Promise<readonly Policy[]> {
  const policies = [readRules(userFolder(host), 'user'), readRules(workspace, 'workspace')];
  return (await Promise.all(policies)).flatMap((policy) => policy ?? []);
}

async function readRules(folder: string, owner: 'user' | 'workspace'): Promise<Policy | undefined> {
  const id = `${owner}-rules`;
  try {
    const found = await readRuleFile(folder, owner);
    return found && factPolicy(found, { id, source: `${owner}/holdfast.policy.json` });
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.code !== 'config.policy.invalid') throw thrown;
    // A file that cannot be read may deny this call. A policy says so, so that the log has it.
    const { message } = thrown;
    return definePolicy({ name: 'broken-rules', id, check: () => deny(message) });
  }
}
