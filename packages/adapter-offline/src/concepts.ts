import { stemOf } from './words.ts';

/** What a word can mean: the names of all groups that it is in, empty for a word of no group. */
export function conceptsOf(stem: string): ReadonlySet<string> {
  return conceptsByStem.get(stem) ?? none;
}

/** Whether two words have a meaning in common. */
export function shareConcept(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  for (const concept of left) if (right.has(concept)) return true;
  return false;
}

/** Whether the word names something that can be done. */
export function isAction(stem: string): boolean {
  return actionStems.has(stem);
}

/** Whether a person must have asked for this in so many words: what it does cannot be taken back. */
export function isDestructive(concepts: ReadonlySet<string>): boolean {
  return concepts.has('delete') || concepts.has('cancel');
}

/** Whether the action only looks. */
export function isLooking(concepts: ReadonlySet<string>): boolean {
  return shareConcept(concepts, looking);
}

/** Whether the action leaves something behind: a file, a record, a message. */
export function isStoring(concepts: ReadonlySet<string>): boolean {
  return shareConcept(concepts, storing);
}

// A word may stand in several groups: "show" lists, reads and gets.
const actions: Readonly<Record<string, string>> = {
  list: 'list ls show display enumerate give all collect gather',
  find: 'find search look locate seek hunt google grep lookup query discover scan glob where browse',
  read: 'read open print show cat view content contents display load inspect see say contain',
  get: 'get fetch retrieve give tell obtain check show display what need want know receive how be',
  write: 'write save store put record persist note log dump export output create',
  create: 'create make add generate build new register set open write',
  delete: 'delete remove erase drop clear wipe trash purge discard rm destroy',
  edit: 'edit change modify update replace alter revise adjust fix substitute set',
  count: 'count many tally total statistics stats number measure',
  summarize: 'summarize summarise summary condense overview digest statistics stats describe analyze analyse profile',
  send: 'send dispatch deliver forward mail email message text notify tell post',
  notify: 'notify alert inform tell remind',
  convert: 'convert turn transform exchange change',
  translate: 'translate interpret',
  schedule: 'schedule plan arrange book reserve create add',
  buy: 'buy purchase order get',
  cancel: 'cancel revoke abort annul withdraw',
  stop: 'stop halt end terminate finish quit',
  start: 'start begin launch run execute trigger',
  copy: 'copy duplicate clone replicate',
  move: 'move transfer relocate shift',
  rename: 'rename move',
  switch: 'switch turn toggle',
  merge: 'merge join combine unite',
  split: 'split divide separate',
  compare: 'compare diff match contrast',
  calculate: 'calculate compute work evaluate determine estimate find what solve add sum',
  download: 'download pull fetch',
  upload: 'upload push',
  encrypt: 'encrypt cipher encode',
  sort: 'sort rank order arrange',
  pay: 'pay settle',
  refund: 'refund reimburse',
  charge: 'charge bill invoice',
  measure: 'measure gauge',
  clean: 'clean tidy',
  reset: 'reset clear restore',
  play: 'play stream',
  draw: 'draw paint sketch plot chart',
  tag: 'tag label',
  assign: 'assign allocate',
  install: 'install deploy',
  print: 'print output',
  reject: 'reject deny decline',
  rotate: 'rotate spin',
  guess: 'guess estimate predict forecast',
  examine: 'examine scan inspect check validate verify test',
  recommend: 'recommend suggest advise find',
  increase: 'increase raise',
};

const things: Readonly<Record<string, string>> = {
  file: 'file document source sources code',
  folder: 'folder directory dir tree',
  text: 'text string content contents body phrase word',
  mail: 'mail email message letter e-mail inbox',
  web: 'web internet online website webpage page site url link',
  image: 'image picture photo',
  person: 'person user contact people member',
  place: 'city town place location',
  event: 'meeting appointment event calendar',
  todo: 'todo fixme task reminder',
  weather: 'weather forecast temperature rain sunny hot cold warm',
  table: 'csv spreadsheet table',
  json: 'json object',
  line: 'line row',
  money: 'currency money euro dollar usd eur exchange',
  price: 'price cost rate quote',
  pattern: 'pattern glob wildcard regex regexp expression',
  flight: 'flight plane airline',
  movie: 'movie film',
  song: 'song music track tune',
  stock: 'stock share ticker',
};

const looking: ReadonlySet<string> = new Set([
  ...['list', 'find', 'read', 'get', 'count', 'summarize', 'calculate', 'compare', 'measure', 'examine', 'guess'],
  ...['translate', 'convert', 'recommend'],
]);
const storing: ReadonlySet<string> = new Set(['write', 'create', 'edit', 'send', 'notify']);
const none: ReadonlySet<string> = new Set();

const conceptsByStem = new Map<string, Set<string>>();
const actionStems = new Set<string>();
for (const [groups, areActions] of [
  [actions, true],
  [things, false],
] as const) {
  for (const [concept, words] of Object.entries(groups)) {
    for (const word of words.split(' ')) {
      const stem = stemOf(word);
      const concepts = conceptsByStem.get(stem) ?? new Set<string>();
      conceptsByStem.set(stem, concepts.add(areActions ? concept : `${concept} (thing)`));
      if (areActions) actionStems.add(stem);
    }
  }
}
