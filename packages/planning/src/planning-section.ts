import { markdownSection, type Section, type Visibility } from '@holdfast/prompt';
import { planSlice } from './plan-slice.ts';
import { planningTools } from './planning-tools.ts';
import { react, type Strategy } from './strategy.ts';

export interface PlanningSectionOptions {
  /** Default `react`. */
  readonly strategy?: Strategy;
  /** Default `Planning`. */
  readonly title?: string;
  /** Default: derived from the title. */
  readonly key?: string;
  /** Default `full`. With `summary`, the model sees one line, and gets the tools when it opens the section. */
  readonly visibility?: Visibility;
}

const opening = 'Make a plan for work that takes more than one step, and keep it up to date.';

const rules = [
  '`planning_setup_plan` starts a plan with an objective and the first steps. It replaces any existing plan.',
  '`planning_add_step` adds one or more steps at the end.',
  '`planning_update_step` changes a title or a status: `pending`, `in_progress` or `done`.',
  '`planning_read_plan` shows the objective and all steps with their ids and statuses.',
  'Titles and the objective have 1 to 500 characters. Step ids count up from 1 and are never reused in a plan.',
  'When all steps are done, the plan is completed and can no longer be changed; set up a new one for further work.',
];

const summary = 'Tools for planning. Open this section for work that takes more than one step.';

const closing = 'Mark a step as done only after its work is done.';

/** The prompt section for planning: the rules, the guidance of the strategy, the four tools and the plan slice. */
export function planningSection({
  strategy = react,
  title = 'Planning',
  key,
  visibility,
}: PlanningSectionOptions = {}): Section {
  const parts = [[opening], rules.map((rule) => `- ${rule}`), strategy.guidance.map(toTemplate), [closing]];
  return markdownSection({
    title,
    ...(key === undefined ? {} : { key }),
    template: parts
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n'),
    ...(visibility === undefined ? {} : { visibility, summary }),
    tools: planningTools(),
    slices: [planSlice],
  });
}

/** Escapes `$`, so that nothing in a strategy is read as a placeholder. */
function toTemplate(line: string): string {
  return line.replaceAll('$', '$$$$');
}
