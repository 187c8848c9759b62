import { choose } from './choose.ts';
import { type Clause, readClause, readClauses } from './reading.ts';
import type { Toolbox } from './toolbox.ts';

/**
 * The clauses of a request as the tools at hand make them out. A clause that asks for nothing of its own but gives more of
 * what the one before it lacks ("Send a mail to Bob. The subject is lunch.") is taken as part of that one, unless it `standsAlone`.
 */
export function readRequest(
  request: string,
  toolbox: Toolbox,
  standsAlone: (clause: Clause) => boolean = () => false,
): readonly Clause[] {
  const { actionStems, objectStems } = toolbox;
  const clauses: Clause[] = [];
  for (const clause of readClauses(request, actionStems, objectStems)) {
    const before = clauses.at(-1);
    const merged =
      before === undefined
        ? undefined
        : readClause(
            [
              ...before.items,
              { type: 'mark', text: ',', start: clause.items[0]?.start ?? 0, end: clause.items[0]?.start ?? 0 },
              ...clause.items,
            ],
            clause.source,
            actionStems,
            objectStems,
          );
    if (before !== undefined && merged !== undefined && !standsAlone(clause) && adds(before, merged, clause, toolbox))
      clauses[clauses.length - 1] = merged;
    else if (before === undefined || !isCourtesy(clause)) clauses.push(clause);
  }
  return clauses;
}

function adds(before: Clause, merged: Clause, clause: Clause, toolbox: Toolbox): boolean {
  const first = choose(before, toolbox);
  if (first === undefined || first.filling.missing.length === 0 || clause.refersBack) return false;
  const names = new Set(first.filling.missing.flatMap(({ nameStems }) => nameStems));
  const isNamed = clause.items.some((item) => item.type === 'word' && names.has(item.stem));
  if (!isNamed && choose(clause, toolbox)?.filling.missing.length === 0) return false;
  const both = choose(merged, toolbox);
  return both?.profile === first.profile && both.filling.missing.length < first.filling.missing.length;
}

/** "Thank you very much" asks for nothing. */
function isCourtesy({ text }: Clause): boolean {
  return /^(?:many )?(?:thanks|thank you|cheers|bye|goodbye|regards)\b/iu.test(text);
}
