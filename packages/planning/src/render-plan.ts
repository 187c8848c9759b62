import { countDone, type StepStatus, type TodoPlan } from './plan.ts';

export interface RenderPlanOptions {
  /** Whether to paint by escape sequences. Default false. */
  readonly color?: boolean;
}

/**
 * The plan as a checklist for a terminal, a line for each step and none at the end. What a terminal would obey, or a reader not
 * see, in the texts of the plan is shown as an escape.
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

// Controls, marks of direction, zero-width signs, lone surrogates, line separators. U+FE0F stays: it only makes a sign an emoji.
const unprintable = /(?!\u{FE0F})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function toPrintable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}
