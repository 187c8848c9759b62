import { showSections } from '@holdfast/prompt';
import { createSession, type Session } from '@holdfast/session';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { closedPath, createLargePrompt, createSections, groupSize, type LargePrompt } from './large-prompt.ts';

const largest = 1_000;
/** Renderings in one sample of an unchanged prompt. */
const repetitions = 20;

/** Measures rendering a large prompt, the first time and again. */
export async function measureRender(extent: Extent = everything): Promise<TimeReport> {
  const count = Math.max(groupSize, Math.min(largest, extent.largest));
  const rows = await compare(subjectsOf(count), limitRounds({ rounds: 30, warmUpRounds: 10 }, extent));
  const size = count.toLocaleString('en');
  const notes = [
    `${size} sections over three levels, one tool each; parameters, policies and examples; one section is a summary.`,
    'floor: as many texts joined. first: `render` of a new prompt that was bound. again: nothing has changed.',
    'opened: the summary was opened in between. bound anew: `bind` with another value, then `render`.',
    'made: `createPrompt` of new sections and tools, which compiles every schema. made again: of those it knows.',
  ];
  return { name: `render: ${size} sections and tools`, notes, rows };
}

function subjectsOf(count: number): readonly Subject[] {
  const floor = { name: 'floor' };
  const known = createSections(count);
  const texts = createLargePrompt(known)
    .bind({ topic: 'tea' })
    .render()
    .text.split(/\n\n(?=##)/);
  return [
    {
      name: 'floor',
      operations: repetitions,
      prepare: () => () => {
        let length = 0;
        for (let time = 0; time < repetitions; time += 1) length += texts.join('\n\n').length;
        if (texts.length !== count || length === 0) throw new Error(`the floor joined ${texts.length} texts`);
      },
    },
    rendering('first', { count, against: [floor] }, (bound) => bound),
    rendering(
      'again',
      { count, against: [{ name: 'first', goal: 0.1 }, floor], times: repetitions },
      (bound, session) => {
        bound.render({ session });
        return bound;
      },
    ),
    rendering('opened', { count, against: [{ name: 'first' }], closed: 0 }, (bound, session) => {
      bound.render({ session });
      session.dispatch(showSections(bound, [closedPath(count)], 'full'));
      return bound;
    }),
    {
      name: 'bound anew',
      operations: 1,
      against: [{ name: 'first' }],
      prepare() {
        const { bound, session } = start(count);
        bound.render({ session });
        return () => check(bound.bind({ topic: 'coffee' }), session, { count, closed: 1 });
      },
    },
    {
      name: 'made',
      operations: 1,
      against: [{ name: 'first' }],
      prepare() {
        const sections = createSections(count);
        return () => createLargePrompt(sections);
      },
    },
    { name: 'made again', operations: 1, against: [{ name: 'first' }], prepare: () => () => createLargePrompt(known) },
  ];
}

interface Rendering {
  readonly count: number;
  readonly against: readonly Against[];
  /** Renderings in a sample. Default 1. */
  readonly times?: number;
  /** Sections that are summarised. Default 1. */
  readonly closed?: number;
}

/** Renders the result of `prepare` for a new bound prompt. */
function rendering(
  name: string,
  { count, against, times = 1, closed = 1 }: Rendering,
  prepare: (bound: LargePrompt, session: Session) => LargePrompt,
): Subject {
  return {
    name,
    operations: times,
    against,
    prepare() {
      const { bound, session } = start(count);
      const prompt = prepare(bound, session);
      return () => {
        for (let time = 0; time < times; time += 1) check(prompt, session, { count, closed });
      };
    },
  };
}

function start(count: number): { readonly bound: LargePrompt; readonly session: Session } {
  const bound = createLargePrompt(createSections(count)).bind({ topic: 'tea' });
  return { bound, session: createSession({ slices: bound.slices }) };
}

/** The tool of a summarised section is hidden, and one that opens it is there. */
function check(
  prompt: LargePrompt,
  session: Session,
  { count, closed }: { readonly count: number; readonly closed: number },
): void {
  const { tools } = prompt.render({ session });
  const last = tools.at(-1)?.name;
  const expected = closed === 0 ? `tool_${count - 1}` : 'open_sections';
  if (tools.length === count && last === expected) return;
  throw new Error(`${tools.length} tools were rendered, the last of them \`${last}\`, expected \`${expected}\``);
}
