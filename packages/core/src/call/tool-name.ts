import { HoldfastError, type Problem, toReason } from '../basics/errors.ts';

const pattern = /^[a-z0-9_-]{1,64}$/;

// Names with a meaning for JavaScript objects or promises, which must not become keys of a table.
const reserved: ReadonlySet<string> = new Set([
  '__proto__',
  'constructor',
  'prototype',
  'then',
  'catch',
  'finally',
  'hasownproperty',
  'isprototypeof',
  'propertyisenumerable',
  'tostring',
  'tolocalestring',
  'valueof',
  'tojson',
  '__definegetter__',
  '__definesetter__',
  '__lookupgetter__',
  '__lookupsetter__',
]);

/** Why `name` cannot name a tool, or `undefined`. */
export function findToolNameProblem(name: string): Problem | undefined {
  if (reserved.has(name.toLowerCase())) {
    return {
      code: 'tool.invalid',
      reason: 'name.reserved',
      message: `\`${name}\` is a reserved word and cannot name a tool.`,
    };
  }
  if (pattern.test(name)) return undefined;
  const message =
    name.trim() === name
      ? `The tool name \`${name}\` must be 1 to 64 of a-z, 0-9, _ and -.`
      : `The tool name \`${name}\` has surrounding whitespace.`;
  return { code: 'tool.invalid', reason: 'name.invalid', message };
}

/** Checks a tool name. @throws HoldfastError `tool.invalid`. */
export function checkToolName(name: string): void {
  const problem = findToolNameProblem(name);
  if (problem !== undefined)
    throw new HoldfastError(problem.code, problem.message, { data: { ...toReason(problem), name } });
}
