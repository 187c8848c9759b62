import { forEachChild, type Redirection, type Statement, type SyntaxNode } from 'unbash';

/** Names that a node visibly sets; not the folder that `cd` sets. */
export function assignedIn(node: SyntaxNode): readonly string[] {
  const names: string[] = [];
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'Assignment') names.push(child.name);
    if (child.type === 'For' || child.type === 'Select') names.push(child.name.value);
    const operation = child.type === 'ParameterExpansion' ? child.operation : undefined;
    if (child.type === 'ParameterExpansion' && operation?.type === 'Default' && operation.operator.endsWith('=')) {
      names.push(child.parameter);
    }
    if (
      child.type === 'Command' &&
      /^(?:read|mapfile|readarray|getopts|printf|let|eval|unset)$/.test(child.name?.value ?? '')
    ) {
      for (const word of child.args) if (word.type === 'Word') names.push(word.value);
    }
    forEachChild(child, visit);
  };
  visit(node);
  return names;
}

export function isCheck({ command }: Statement): boolean {
  return command.type === 'AndOr' && command.operators.at(-1) === '||' && isFailure(command.commands.at(-1));
}

/** `exit 1`. */
export function isFailure(node: SyntaxNode | undefined): boolean {
  if (node?.type !== 'Command' || !/^(?:exit|return)$/.test(node.name?.value ?? '')) return false;
  const [code, ...others] = node.args;
  return code?.type === 'Word' && others.length === 0 && /^[1-9]\d?$/.test(code.text);
}

/** True if a missing or unwritable file keeps a command from running. */
export function opensFile(redirection: Redirection): boolean {
  if (redirection.type !== 'Redirect' || redirection.target === undefined) return false;
  const { operator, target } = redirection;
  return !(operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target.text)) && target.text !== '/dev/null';
}
