import type { JsonObject } from '@holdfast/core';
import { type Clause, readClauses, readWriteClause, textOf } from '../words/clauses.ts';
import { type ToolWords, verbsOf } from '../words/tool-words.ts';
import { isSameVerb, isWriting } from '../words/verbs.ts';
import { stemOf } from '../words/words.ts';
import { type Match, type Matched, matchClause } from './match.ts';
import { describeUnread } from './unread.ts';

/** A request for one call, optionally with a file for its result. */
export interface Understood {
  readonly type: 'clear';
  readonly clause: Clause;
  readonly match: Match;
  readonly save: Save | undefined;
}

/** A request that is ambiguous or matches no tool: the reason, for a person, and the closest tools. */
export interface Unclear {
  readonly type: 'unclear';
  readonly why: string;
  readonly clauses: readonly Clause[];
  readonly near: readonly ToolWords[];
}

/** "… and write them to FILE": the call that stores a text, except for the text. */
export interface Save {
  readonly name: string;
  readonly path: string;
  arguments(content: string): JsonObject;
}

/** Reads a request as one clause, optionally followed by "and write it to FILE". */
export function understand(request: string, tools: readonly ToolWords[]): Understood | Unclear {
  const unread = describeUnread(request);
  const clauses = unread !== undefined ? [] : readClauses(request, verbsOf(tools));
  const unclear = (why: string, near: readonly ToolWords[] = []): Unclear => ({ type: 'unclear', why, clauses, near });
  const [clause, second] = clauses;
  if (clause === undefined) return unclear(unread ?? 'The request does not name an action for a tool.');
  const path = second === undefined ? undefined : readWriteClause(second, clause);
  if (clauses.length > (path === undefined ? 1 : 2)) {
    const said = clauses.slice(0, 5).map((each) => quote(textOf(each)));
    const advice = 'I do one thing at a time; to save its result, add "and write it to FILE".';
    return unclear(`The request asks for several things: ${said.join(', ')}. ${advice}`);
  }
  const matched = matchClause(clause, tools);
  if (matched.type !== 'matched') return unclear(explainUnclear(matched), matched.near);
  const writers = path === undefined ? [undefined] : findWriters(tools, path);
  if (writers.length === 1) return { type: 'clear', clause, match: matched.match, save: writers[0] };
  return unclear(`${writers.length === 0 ? 'No tool can write' : 'Several tools can write'} a text to \`${path}\`.`);
}

/** The tools that store a text under a path and need nothing else; those with "file" in their name take precedence. */
function findWriters(tools: readonly ToolWords[], path: string): readonly Save[] {
  const found = tools.flatMap(({ tool: { name }, parameters, verbs: { lead }, nameStems }) => {
    const required = parameters.filter(({ isRequired }) => isRequired);
    const target = required.find(({ kind }) => kind === 'path');
    const content = required.find(({ kind }) => kind === 'text');
    const writes = isWriting(lead) || isSameVerb(lead, stemOf('create'));
    if (!writes || target === undefined || content === undefined || required.length !== 2) return [];
    const save = { name, path, arguments: (text: string) => ({ [target.name]: path, [content.name]: text }) };
    return [{ save, isFile: nameStems.includes(stemOf('file')) }];
  });
  const files = found.filter(({ isFile }) => isFile);
  return (files.length > 0 ? files : found).map(({ save }) => save);
}

/** Explains to a person why a clause is not a call. */
export function explainUnclear(matched: Exclude<Matched, { readonly type: 'matched' }>): string {
  const names = matched.near.map(({ tool }) => `\`${tool.name}\``);
  switch (matched.type) {
    case 'missing': {
      const said = matched.missing.map(
        ({ name, description }) => `\`${name}\`${description && ` (${description.slice(0, 100)})`}`,
      );
      if (said.length === 0) return `${names[0]} does not use an earlier result.`;
      return `${names[0]} needs ${said.join(' and ')}, which the request does not mention.`;
    }
    case 'tie':
      return `Several tools match: ${names.join(', ')}. Say "use NAME to …" to choose one.`;
    case 'none': {
      const words = matched.words.slice(0, 6).map(quote).join(', ');
      if (words === '') return 'The request does not say what it is about, or how many objects are meant.';
      return `${names.length === 0 ? 'No tool matches: I' : 'I'} do not understand ${words}.`;
    }
    default:
      return matched satisfies never;
  }
}

function quote(text: string): string {
  return `"${text.slice(0, 80).replaceAll('"', '')}${text.length > 80 ? '…' : ''}"`;
}
