import { markdownSection, type Section, type Visibility } from '@holdfast/prompt';
import { planSlice } from './plan-slice.ts';
import { planningTools } from './planning-tools.ts';
import { react, type Strategy } from './strategy.ts';

export interface PlanningSectionOptions {
  /** Default `react`. */
  readonly strategy?: Strategy;
  /** Default `Planning`. */
  readonly title?: string;
  /** Default: made of the title. */
  readonly key?: string;
  /** Default `full`. `summary`: one line until the model opens the section, and the tools come with it. */
  readonly visibility?: Visibility;
}

const opening = 'Plan work that takes more than one step, and keep the plan true to what you do.';

const rules = [
  '`planning_setup_plan` begins a plan: its objective and the steps that you know. It replaces any plan that there is.',
  '`planning_add_step` adds steps at the end, several in one call if you like.',
  '`planning_update_step` changes a title or a status: `pending`, `in_progress` or `done`.',
  '`planning_read_plan` shows the objective and all steps with their ids.',
  'Titles and the objective have 1 to 500 characters. Ids count up from 1, and none is used twice in a plan.',
  'When all steps are done the plan is completed and changes no more; set up a new one for further work.',
];

const summary = 'Tools that keep a plan. Open this section for work that takes more than one step.';

const closing = 'Mark a step as done when its work is done, not before.';

/** The section that lets a model keep a plan: rules, guidance of the strategy, the four tools and the slice they write. */
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

/** As it stands: no placeholder begins in a strategy's text. */
function toTemplate(line: string): string {
  return line.replaceAll('$', '$$$$');
}
