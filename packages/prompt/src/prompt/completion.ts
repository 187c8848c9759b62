import { type CompletionChecker, HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { Completion, CompletionContext, CompletionRule } from '@holdfast/core/types';
import { isGuidanceName } from './feedback.ts';

const complete: Completion = Object.freeze({ complete: true });

/**
 * Complete when all of `paths` are files. Without a filesystem nothing is there.
 *
 * @throws HoldfastError `prompt.invalid` for a path that is empty.
 */
export function filesExist(paths: readonly string[]): CompletionChecker {
  const given: unknown = paths;
  if (!Array.isArray(given)) throw invalid('files-exist', 'give a list of paths.');
  const required = [...paths];
  for (const path of required) {
    if (typeof path !== 'string' || path === '') throw invalid('files-exist', 'each path must name a file.');
  }
  return toChecker('files-exist', async ({ filesystem }) => {
    if (required.length === 0) return complete;
    if (filesystem === undefined) {
      return incomplete(`There is no filesystem, so these files cannot be there: ${list(required)}`);
    }
    const missing: string[] = [];
    for (const path of required) if ((await filesystem.stat(path))?.type !== 'file') missing.push(path);
    if (missing.length === 0) return complete;
    return incomplete(`The work is not done. Create these files before you stop: ${list(missing)}`);
  });
}

/**
 * Complete when all of `checkers` are; says what the first one lacks that is not, and does not ask those after it.
 *
 * @throws HoldfastError `prompt.invalid` for an empty list.
 */
export function allComplete(checkers: readonly CompletionChecker[]): CompletionChecker {
  const parts = checkAll('all-complete', checkers);
  return toChecker('all-complete', async (context) => {
    for (const part of parts) {
      const answer = await part.check(context);
      if (answer.complete !== true) return answer;
    }
    return complete;
  });
}

/**
 * Complete when one of `checkers` is; says otherwise what each of them lacks. One that throws is not complete.
 *
 * @throws HoldfastError `prompt.invalid` for an empty list.
 */
export function anyComplete(checkers: readonly CompletionChecker[]): CompletionChecker {
  const parts = checkAll('any-complete', checkers);
  return toChecker('any-complete', async (context) => {
    const lacking: string[] = [];
    for (const part of parts) {
      const answer = await ask(part, context);
      if (answer.complete) return complete;
      lacking.push(answer.feedback);
    }
    const [only] = lacking;
    if (lacking.length === 1 && only !== undefined) return incomplete(only);
    return incomplete(['One of these is enough:', ...lacking.map((feedback) => `- ${feedback}`)].join('\n'));
  });
}

/**
 * Creates the rule for a prompt's `completion` and `maxReturns`.
 *
 * @throws HoldfastError `prompt.invalid`.
 */
export function toCompletionRule(checker: CompletionChecker, maxReturns = 3): CompletionRule {
  checkOne(checker);
  if (!Number.isInteger(maxReturns) || maxReturns < 0) {
    throw invalid(checker.name, `\`maxReturns\` must be an integer of at least 0, got ${String(maxReturns)}.`);
  }
  // Copied, so that later changes do not affect the prompt; called as a method, because it may be a class instance.
  const own = Object.isFrozen(checker) ? checker : toChecker(checker.name, (context) => checker.check(context));
  return Object.freeze({ checker: own, maxReturns });
}

async function ask(checker: CompletionChecker, context: CompletionContext): Promise<Completion> {
  try {
    return await checker.check(context);
  } catch (thrown) {
    return incomplete(`\`${checker.name}\` could not check: ${describeThrown(thrown)}`);
  }
}

function toChecker(name: string, check: CompletionChecker['check']): CompletionChecker {
  return Object.freeze({ name, check });
}

function checkAll(name: string, checkers: readonly CompletionChecker[]): readonly CompletionChecker[] {
  const given: unknown = checkers;
  if (!Array.isArray(given) || given.length === 0) throw invalid(name, 'give at least one checker.');
  checkers.forEach(checkOne);
  return [...checkers];
}

function checkOne({ name, check }: CompletionChecker): void {
  if (!isGuidanceName(name)) throw invalid(name, 'the name must be lower case words joined by `-`.');
  if (typeof check !== 'function') throw invalid(name, '`check` must be a function.');
}

function incomplete(feedback: string): Completion {
  return { complete: false, feedback };
}

/** The first three. */
function list(paths: readonly string[]): string {
  const named = paths.slice(0, 3).map((path) => `\`${path}\``);
  return [...named, ...(paths.length > 3 ? ['...'] : [])].join(', ');
}

function invalid(name: unknown, problem: string): HoldfastError {
  return new HoldfastError('prompt.invalid', `The completion checker \`${String(name)}\`: ${problem}`, {
    data: { reason: 'completion', name: String(name) },
  });
}
