import { stemOf } from './words.ts';

const toStems = (words: string): readonly string[] => words.split(' ').map(stemOf);

// Groups of synonyms. A verb may be in several groups: "show" lists and reads.
const lookingGroups =
  'read show open print display cat view see, list show open print display enumerate find see, search find grep look, ' +
  'get fetch show give tell obtain, count tally, calculate compute evaluate, summarize describe, convert turn exchange';
const changingGroups =
  'write save store, create make, delete remove erase, edit change modify replace, send mail email';
const groups = `${lookingGroups}, ${changingGroups}`.split(', ').map(toStems);

const looking: ReadonlySet<string> = new Set([
  ...lookingGroups.split(', ').flatMap(toStems),
  ...toStems('compare query measure translate check lookup'),
]);

const known: ReadonlySet<string> = new Set([
  ...[...groups.flat(), ...looking],
  ...toStems('add append copy move rename put set start stop run insert download upload merge sort do'),
]);

/** True for a verb that requests start with. */
export function isVerb(stem: string): boolean {
  return known.has(stem);
}

/** True if the verbs can mean the same. */
export function isSameVerb(left: string, right: string): boolean {
  return left === right || groups.some((group) => group.includes(left) && group.includes(right));
}

/** True for read-only verbs. A question, or a request without a verb, is read-only. */
export function isLooking(stem: string): boolean {
  return looking.has(stem);
}

/** True for verbs that write a result to a file. */
export function isWriting(stem: string): boolean {
  return isSameVerb(stem, stemOf('write'));
}
