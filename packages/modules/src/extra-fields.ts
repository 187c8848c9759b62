import type { ModuleDefinition } from './module-definition.ts';
import type { PredictorType } from './program.ts';

/** Names beside those of the signature. */
export interface ExtraNames {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const none: ExtraNames = { inputs: [], outputs: [] };
const reasoning: ExtraNames = { inputs: [], outputs: ['reasoning'] };
// Of DSPy: `dspy/predict/react.py` of stanfordnlp/dspy.
const step: ExtraNames = { inputs: ['trajectory'], outputs: ['next_thought', 'next_tool_name', 'next_tool_args'] };

/** The fields that a predictor has beside those of its signature. */
export function extraNamesOf({ predictor_type: predictorType }: Pick<ModuleDefinition, 'predictor_type'>): ExtraNames {
  if (predictorType === 'react') return step;
  return predictorType === 'chain_of_thought' ? reasoning : none;
}

/** As `extraNamesOf`, with the fields by which a tool loop tells of tools and is asked for calls: demos may show them. */
export function extraNamesOfDemos(definition: ModuleDefinition): ExtraNames {
  const own = extraNamesOf(definition);
  return definition.tool_enabled && definition.predictor_type !== 'react' ? withTools(own) : own;
}

/** As `extraNamesOfDemos`, for a predictor that is made in code: it may get tools later, and either protocol of `react` its demos. */
export function extraNamesOfCode(predictorType: PredictorType): ExtraNames {
  const own = extraNamesOf({ predictor_type: predictorType });
  return predictorType === 'react' ? { ...own, outputs: [...own.outputs, 'reasoning'] } : withTools(own);
}

function withTools({ inputs, outputs }: ExtraNames): ExtraNames {
  return { inputs: [...inputs, 'available_tools', 'context'], outputs: [...outputs, 'tool_call'] };
}

/** Of the second step of a `react` module. */
export const extraNamesOfExtraction: ExtraNames = { inputs: ['trajectory'], outputs: ['reasoning'] };
