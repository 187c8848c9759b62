import type { JsonObject } from '@holdfast/core';
import type { Demo, PredictorType } from '../signature/program.ts';

/** A field as a module file declares it. */
export interface ModuleField {
  readonly name: string;
  readonly description?: string;
  /** For people and for comparing: the JSON Schema type, `string`, `integer`, `array` and so on. */
  readonly field_type?: string;
}

/** What a module file says of its signature; it has to fit the one that is registered under the name. */
export interface ModuleSignature {
  readonly inputs: readonly ModuleField[];
  readonly outputs: readonly ModuleField[];
}

/** What is known of how a module came to be. Further keys are kept. */
export interface ModuleMetadata extends JsonObject {
  readonly version: string;
}

/** What was tuned of the second step of a `react` module that takes the answer from what was found out. */
export interface ModuleExtraction {
  readonly instruction?: string;
  readonly demos?: readonly Demo[];
  /** By field, in place of what the signature's schemas say. */
  readonly descriptions?: Readonly<Record<string, string>>;
}

/** A saved predictor: the contents of a module file. */
export interface ModuleDefinition {
  readonly module_id: string;
  readonly predictor_type: PredictorType;
  readonly signature_name: string;
  readonly signature?: ModuleSignature;
  /** Default: the signature's. */
  readonly instruction?: string;
  readonly demos: readonly Demo[];
  /** By field, in place of what the signature's schemas say. */
  readonly descriptions?: Readonly<Record<string, string>>;
  readonly tool_enabled: boolean;
  /** Of a `react` module. `text`: calls are fields of the answer, as it was tuned. Default: `native` where the model can be offered tools. */
  readonly tool_protocol?: 'native' | 'text';
  /** Of a `react` module with the text protocol: `instruction` lists the tools itself, so it is used as it is. Default false. */
  readonly lists_tools?: boolean;
  readonly extract?: ModuleExtraction;
  readonly metadata: ModuleMetadata;
}
