import type { ToolDeclaration } from '@holdfast/core';
import { conceptsOf, isAction } from './concepts.ts';
import { type Parameter, readParameters } from './parameters.ts';
import { type Role, roleOf } from './roles.ts';
import { splitName, stemOf, wordsOf } from './words.ts';

/** A tool as its words tell about it. */
export interface Profile {
  readonly tool: ToolDeclaration;
  readonly parameters: readonly Parameter[];
  /** What it does, by name and description. */
  readonly actionStems: ReadonlySet<string>;
  readonly actionConcepts: ReadonlySet<string>;
  /** What it does it to: the other words of its name. */
  readonly objectStems: readonly string[];
  readonly nameStems: ReadonlySet<string>;
  readonly descriptionStems: ReadonlySet<string>;
  /** The meanings of the description's words. */
  readonly descriptionThings: ReadonlySet<string>;
  /** What each parameter is for. */
  readonly roles: ReadonlyMap<Parameter, Role>;
  readonly parameterStems: ReadonlySet<string>;
  /** Words of allowed values and of the parameters' descriptions. */
  readonly detailStems: ReadonlySet<string>;
}

/** The offered tools, and how much their words tell them apart. */
export interface Toolbox {
  readonly profiles: readonly Profile[];
  readonly actionStems: ReadonlySet<string>;
  readonly objectStems: ReadonlySet<string>;
  /** From near 0 for a word that every tool has to 1 for a word of one tool alone. */
  weightOf(stem: string): number;
}

export function toToolbox(tools: readonly ToolDeclaration[]): Toolbox {
  const profiles = tools.map(profileOf);
  const counts = new Map<string, number>();
  for (const { nameStems, descriptionStems } of profiles) {
    for (const stem of new Set([...nameStems, ...descriptionStems])) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  const most = Math.log(1 + profiles.length);
  return {
    profiles,
    actionStems: new Set(profiles.flatMap(({ actionStems }) => [...actionStems])),
    objectStems: new Set(profiles.flatMap(({ objectStems }) => objectStems)),
    weightOf: (stem) => (profiles.length < 2 ? 1 : Math.log(1 + profiles.length / (counts.get(stem) ?? 1)) / most),
  };
}

const profiles = new WeakMap<ToolDeclaration, Profile>();

/** Read once for each declaration: a run sends the same ones with every request. */
function profileOf(tool: ToolDeclaration): Profile {
  const known = profiles.get(tool);
  if (known !== undefined) return known;
  const profile = readProfile(tool);
  profiles.set(tool, profile);
  return profile;
}

function readProfile(tool: ToolDeclaration): Profile {
  const parameters = readParameters(tool.inputSchema);
  const nameStems = splitName(tool.name).map(agentless);
  const description = wordsOf(tool.description.slice(0, 1000));
  const lead = leadOf(tool.description);
  const action =
    nameStems.find(isAction) ?? (nameStems.length > 1 ? nameStems.find((stem) => stem === lead) : undefined);
  const toolStems = new Set([...nameStems, ...description.map((word) => word.stem)]);
  const actionStems = new Set([action, lead].filter((stem) => stem !== undefined && stem !== ''));
  // Of two verbs in a name the first is what it does: "web_get_ticket", "convert_table".
  const objectStems = nameStems.filter((stem) => stem !== action && !(stem === lead && nameStems.length > 1));
  return {
    tool,
    parameters,
    actionStems: actionStems as ReadonlySet<string>,
    actionConcepts: new Set(
      [...actionStems].flatMap((stem) => [...conceptsOf(stem ?? '')].filter((concept) => !concept.endsWith('(thing)'))),
    ),
    objectStems: objectStems.length > 0 ? objectStems : [],
    nameStems: new Set(nameStems),
    descriptionStems: new Set(description.map((word) => word.stem)),
    descriptionThings: new Set(description.flatMap((word) => [...conceptsOf(word.stem)])),
    roles: new Map(parameters.map((each) => [each, roleOf(each, toolStems)])),
    parameterStems: new Set(
      parameters.flatMap((each) => [...each.nameStems, ...each.path.flatMap(splitName).map(stemOf)]),
    ),
    detailStems: new Set(
      parameters.flatMap((each) => [
        ...each.descriptionStems,
        ...each.choices.flatMap((choice) => splitName(String(choice)).map(stemOf)),
      ]),
    ),
  };
}

/** A description's first verb. */
function leadOf(description: string): string {
  const [first] = wordsOf(
    description
      .slice(0, 200)
      .replace(
        /^\W*(?:(?:use|used|using) (?:it|this)?(?: tool)?|helps?|this (?:tool|function)|(?:a |an )?(?:tool|function)(?: that)?|allows? (?:you|users?)|lets? you|can be used|is used|for)\s*(?:to|for)?\s+/iu,
        '',
      ),
  );
  return first === undefined ? '' : first.stem;
}

/** "fetcher" names who does it, "fetch" what is done. */
function agentless(word: string): string {
  const stem = stemOf(word);
  const bare = /(?:er|or)$/u.test(stem) && stem.length > 5 ? stemOf(stem.slice(0, -2)) : stem;
  return bare !== stem && isAction(bare) ? bare : stem;
}
