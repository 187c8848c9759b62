import { isDestructive } from './concepts.ts';
import type { Parameter } from './parameters.ts';
import type { Draft } from './plan-draft.ts';
import { mainField } from './plan-outputs.ts';
import type { Clause } from './reading.ts';
import type { Profile } from './toolbox.ts';

/** Works on a text, and has no argument for the file or the address that the text is in. */
export function takesText({ parameters, roles, actionConcepts, tool }: Profile, draft: Draft): boolean {
  if (draft.toolNamed(tool.name)?.effects !== 'none') return false;
  if (['find', 'list', 'get', 'read'].some((concept) => actionConcepts.has(concept) && !actionConcepts.has('count')))
    return false;
  return (
    !parameters.some((each) => /^(?:path|url|glob)$/u.test(roles.get(each) ?? '')) &&
    parameters.some((each) => each.type === 'string' && /^(?:text|content|neutral)$/u.test(roles.get(each) ?? ''))
  );
}

export interface Reader {
  readonly profile: Profile;
  readonly parameter: Parameter;
}

/** Tools that only look, and need nothing but a path or an address. */
export function readersOf(kind: 'path' | 'url', wanting: Profile, draft: Draft): readonly Reader[] {
  const readers = draft.toolbox.profiles.flatMap((profile): readonly Reader[] => {
    const required = profile.parameters.filter(({ isRequired }) => isRequired);
    const [parameter] = required;
    const { actionConcepts } = profile;
    if (profile === wanting || isDangerous(profile, draft) || !draft.isAllowed(profile)) return [];
    if (isDestructive(actionConcepts) || !(actionConcepts.has('read') || actionConcepts.has('get'))) return [];
    if (required.length !== 1 || parameter === undefined || parameter.isList || profile.roles.get(parameter) !== kind)
      return [];
    const outputs = draft.outputsOf(profile);
    return outputs.fields.length === 0 || mainField(outputs, profile)?.type === 'string'
      ? [{ profile, parameter }]
      : [];
  });
  const reading = readers.filter(({ profile }) => profile.actionConcepts.has('read'));
  return kind === 'path' && reading.length > 0 ? reading : readers;
}

/** Whether somebody is asked before it is called; what is not known counts as that. */
export function isDangerous({ tool }: Profile, draft: Draft): boolean {
  return draft.toolNamed(tool.name)?.dangerous !== false;
}

/** Whether the clause's verb is a word for just what the tool does. */
export function isAskedFor({ verb }: Clause, { actionStems, actionConcepts, nameStems }: Profile): boolean {
  if (verb === undefined || verb.index < 0) return false;
  return (
    actionStems.has(verb.stem) ||
    nameStems.has(verb.stem) ||
    [...verb.concepts].some((concept) => actionConcepts.has(concept))
  );
}
