import { toPrintable } from '@holdfast/core/internal';
import { countDone, type StepStatus, type TodoPlan } from './plan.ts';

export interface RenderPlanOptions {
  /** Color the output with escape sequences. Default false. */
  readonly color?: boolean;
}

/**
 * Renders the plan as a checklist for a terminal: one line per step, no trailing newline. Control and invisible characters in the plan's
 * text are escaped.
 */
export function renderPlan(plan: TodoPlan, { color = false }: RenderPlanOptions = {}): string {
  const paint = (code: number, text: string): string => (color ? `\x1b[${code}m${text}\x1b[0m` : text);
  const { objective, status, steps } = plan;
  const width = String(steps.at(-1)?.step_id ?? '').length;
  const head = `${paint(bold, 'Plan')}  ${toPrintable(objective)}  ${paint(dim, `${status}, ${countDone(plan)}/${steps.length} done`)}`;
  const lines = steps.map(({ step_id: id, title, status: stepStatus }) => {
    const { mark, code } = looks[stepStatus];
    const line = `[${mark}] ${String(id).padStart(width)}. ${toPrintable(title)}`;
    return `  ${code === undefined ? line : paint(code, line)}`;
  });
  return [head, ...lines].join('\n');
}

const bold = 1;
const dim = 2;
const yellow = 33;

const looks: Readonly<Record<StepStatus, { readonly mark: string; readonly code?: number }>> = {
  pending: { mark: ' ' },
  in_progress: { mark: '>', code: yellow },
  done: { mark: 'x', code: dim },
};
