import type { JsonObject } from '@holdfast/core';
import type { Demo, PredictorType } from '../signature/program.ts';

/** A field as declared in a module file. */
export interface ModuleField {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema type (`string`, `integer`, `array` and so on), for people and for comparison. */
  readonly field_type?: string;
}

/** The signature as declared in a module file; it must match the registered signature of that name. */
export interface ModuleSignature {
  readonly inputs: readonly ModuleField[];
  readonly outputs: readonly ModuleField[];
}

/** The origin of a module. Unknown keys are kept. */
export interface ModuleMetadata extends JsonObject {
  readonly version: string;
}

/** The tuning of the second step of a `react` module, which extracts the answer. */
export interface ModuleExtraction {
  readonly instruction?: string;
  readonly demos?: readonly Demo[];
  /** By field; replaces the description in the signature's schemas. */
  readonly descriptions?: Readonly<Record<string, string>>;
}

/** A saved predictor: the content of a module file. */
export interface ModuleDefinition {
  readonly module_id: string;
  readonly predictor_type: PredictorType;
  readonly signature_name: string;
  readonly signature?: ModuleSignature;
  /** Default: that of the signature. */
  readonly instruction?: string;
  readonly demos: readonly Demo[];
  /** By field; replaces the description in the signature's schemas. */
  readonly descriptions?: Readonly<Record<string, string>>;
  readonly tool_enabled: boolean;
  /** For `react` modules. `text`: calls are fields of the answer. Default: `native` if the model supports tools. */
  readonly tool_protocol?: 'native' | 'text';
  /** For `react` modules with the text protocol: `instruction` already lists the tools and is used unchanged. Default false. */
  readonly lists_tools?: boolean;
  readonly extract?: ModuleExtraction;
  readonly metadata: ModuleMetadata;
}
