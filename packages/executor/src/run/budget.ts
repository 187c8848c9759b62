import { type Budget, type Clock, HoldfastError, systemClock } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import type { BudgetLimits } from '@holdfast/core/types';
import { type BudgetAccount, registerBudget } from '../call/execute.ts';

/**
 * Creates a budget, shared by every run and direct call that gets it and by everything nested in them. The full limit may be spent;
 * work beyond it is refused. An omitted limit is unlimited. `clock` measures the wall time; default: the system clock.
 *
 * @throws HoldfastError `options.invalid` for a limit that is not a positive number, or a count that is not an integer.
 */
export function createBudget(limits: BudgetLimits, { clock = systemClock }: { readonly clock?: Clock } = {}): Budget {
  checkOptions('createBudget', limits, { maxCalls: 'any', maxTokens: 'any', maxWallMs: 'any' });
  checkCount('maxCalls', limits.maxCalls);
  checkCount('maxTokens', limits.maxTokens);
  if (limits.maxWallMs !== undefined && !(limits.maxWallMs > 0 && Number.isFinite(limits.maxWallMs))) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxWallMs\` must be a positive number of milliseconds, got ${limits.maxWallMs}.`,
    );
  }
  const account = new Account(limits, clock);
  const budget = new View(account);
  registerBudget(budget, account);
  return budget;
}

class Account implements BudgetAccount {
  readonly limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #maxCalls: number;
  readonly #maxTokens: number;
  readonly #maxWallMs: number;
  #calls = 0;
  #tokens = 0;
  #wallMs = 0;
  #active = 0;
  #activeSinceMs = 0;

  constructor(limits: BudgetLimits, clock: Clock) {
    this.limits = Object.freeze({ ...limits });
    this.#clock = clock;
    this.#maxCalls = limits.maxCalls ?? Number.POSITIVE_INFINITY;
    this.#maxTokens = limits.maxTokens ?? Number.POSITIVE_INFINITY;
    this.#maxWallMs = limits.maxWallMs ?? Number.POSITIVE_INFINITY;
  }

  get used(): Budget['used'] {
    return Object.freeze({ calls: this.#calls, tokens: this.#tokens, wallMs: this.#wall() });
  }

  get limitsCalls(): boolean {
    return this.#maxCalls !== Number.POSITIVE_INFINITY;
  }

  get overspent(): boolean {
    return this.#tokens > this.#maxTokens;
  }

  get exhausted(): boolean {
    return this.#tokens >= this.#maxTokens || this.remainingWallMs() === 0;
  }

  get outOfCalls(): boolean {
    return this.#calls >= this.#maxCalls;
  }

  takeCall(): boolean {
    if (this.outOfCalls) return false;
    this.#calls += 1;
    return true;
  }

  returnCall(): void {
    this.#calls -= 1;
  }

  addTokens(tokens: number): void {
    // Invalid usage reported by a provider must not refill the budget.
    if (tokens > 0) this.#tokens += tokens;
  }

  begin(): void {
    if (this.#active === 0) this.#activeSinceMs = this.#clock.now();
    this.#active += 1;
  }

  end(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#wallMs = this.#elapsed();
  }

  remainingWallMs(): number {
    return Math.max(0, this.#maxWallMs - this.#wall());
  }

  #wall(): number {
    return this.#active === 0 ? this.#wallMs : this.#elapsed();
  }

  // A clock that is set back refunds nothing.
  #elapsed(): number {
    return this.#wallMs + Math.max(0, this.#clock.now() - this.#activeSinceMs);
  }
}

/** The public view of a budget, from which the account is not reachable. */
class View implements Budget {
  readonly limits: BudgetLimits;
  readonly #account: Account;

  constructor(account: Account) {
    this.limits = account.limits;
    this.#account = account;
    Object.freeze(this);
  }

  get used(): Budget['used'] {
    return this.#account.used;
  }
}

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= 1)) {
    throw new HoldfastError('options.invalid', `\`${name}\` must be a positive integer, got ${value}.`);
  }
}
