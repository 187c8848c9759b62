import type { Json } from '@holdfast/core';
import { fill, toArguments } from './fill.ts';
import type { PlannedCall } from './follow.ts';
import type { Parameter } from './parameters.ts';
import { readClauses } from './reading.ts';
import type { Finding } from './results.ts';
import type { Profile, Toolbox } from './toolbox.ts';

/**
 * The call after which a refused one may pass, when the refusal itself says what has to come first: a tool by its name, or
 * reading the file. `undefined` when it says nothing of the kind.
 */
export function planRepair(refused: PlannedCall, { text }: Finding, toolbox: Toolbox): PlannedCall | undefined {
  const reason = text.slice(0, 2000);
  if (
    !/\b(?:first|again|retry|before|after|until|unless|requires?|required|must|needs?|not (?:been )?read|unread)\b/iu.test(
      reason,
    )
  )
    return undefined;
  const named = toolbox.profiles.find(({ tool }) => tool.name !== refused.name && mentions(reason, tool.name));
  if (named !== undefined) return prepare(named, refused, reason, toolbox);
  if (!/\bread\b/iu.test(reason)) return undefined;
  const reader = toolbox.profiles.find(
    (profile) => profile.actionConcepts.has('read') && pathOf(profile) !== undefined && onlyNeedsPath(profile),
  );
  return reader === undefined ? undefined : prepare(reader, refused, reason, toolbox);
}

function mentions(reason: string, name: string): boolean {
  const at = reason.indexOf(name);
  return at >= 0 && !/[\w-]/u.test(reason.charAt(at - 1)) && !/[\w-]/u.test(reason.charAt(at + name.length));
}

/** Fills the tool from the refused call's arguments of the same name or role, and from what the reason quotes. */
function prepare(profile: Profile, refused: PlannedCall, reason: string, toolbox: Toolbox): PlannedCall | undefined {
  const given = new Map<Parameter, Json>();
  for (const parameter of profile.parameters) {
    const [name, inner] = parameter.path;
    if (name === undefined || inner !== undefined) continue;
    if (Object.hasOwn(refused.arguments, name) && parameter.isRequired)
      given.set(parameter, refused.arguments[name] ?? null);
  }
  const path = pathOf(profile);
  const refusedProfile = toolbox.profiles.find(({ tool }) => tool.name === refused.name);
  const refusedPath = refusedProfile === undefined ? undefined : pathOf(refusedProfile)?.path[0];
  if (
    path?.isRequired === true &&
    !given.has(path) &&
    refusedPath !== undefined &&
    Object.hasOwn(refused.arguments, refusedPath)
  ) {
    given.set(path, refused.arguments[refusedPath] ?? null);
  }
  const missing = profile.parameters.filter((each) => each.isRequired && !given.has(each));
  if (missing.length > 0) {
    const [clause] = readClauses(reason, toolbox.actionStems, toolbox.objectStems);
    const filling = clause === undefined ? undefined : fill(missing, clause, profile);
    if (filling === undefined || filling.missing.length > 0) return undefined;
    for (const [parameter, value] of filling.given) given.set(parameter, value);
  }
  return { name: profile.tool.name, arguments: toArguments(given, profile.parameters) };
}

function pathOf(profile: Profile): Parameter | undefined {
  return profile.parameters.find((each) => each.type === 'string' && profile.roles.get(each) === 'path');
}

function onlyNeedsPath(profile: Profile): boolean {
  return profile.parameters.every((each) => !each.isRequired || each === pathOf(profile));
}
