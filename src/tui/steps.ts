/** Small moves that every part of the model is made of. Pure. */

import type { Tone } from './line.ts';
import type { Form, Load, Model, Opened, Screen, Step } from './state.ts';

const noticeMs = 6_000;
const troubleMs = 12_000;

/** Nothing follows besides the change itself. */
export const only = (model: Model): Step => [model, []];

/** Says something for a while at the bottom of the screen. */
export const say = (model: Model, text: string, tone: Tone = 'plain'): Model => ({
  ...model,
  notice: { text, tone, until: model.now + (tone === 'bad' ? troubleMs : noticeMs) },
});

/** One step after another. */
export function then(step: Step, next: (model: Model) => Step): Step {
  const [model, commands] = next(step[0]);
  return [model, [...step[1], ...commands]];
}

/** What makes two loads the same. */
export const keyOf = (load: Load): string =>
  [load.what, 'name' in load ? load.name : '', 'at' in load ? load.at : ''].join(' ');

/** Loads something; while the same is on its way already, once more after it. */
export function want(model: Model, load: Load): Step {
  const key = keyOf(load);
  if (!model.daemon.up) return only(model);
  if (model.pending[key] !== undefined) return only({ ...model, pending: { ...model.pending, [key]: 'again' } });
  return [{ ...model, pending: { ...model.pending, [key]: 'asked' } }, [load]];
}

export const wantAll = (model: Model, loads: readonly Load[]): Step =>
  loads.reduce<Step>((step, load) => then(step, (next) => want(next, load)), only(model));

export const show = (model: Model, screen: Screen): Model => ({ ...model, screen });

/** Changes the server that is looked at; nothing when none is. */
export function withOpened(model: Model, change: (opened: Opened) => Opened): Model {
  const { screen } = model;
  return screen.at === 'server' ? show(model, { ...screen, opened: change(screen.opened) }) : model;
}

/** Changes the form that is open; nothing when none is. */
export function withForm(model: Model, change: (form: Form) => Form): Model {
  const { screen } = model;
  return screen.at === 'add' ? show(model, { ...screen, form: change(screen.form) }) : model;
}

export const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(value, most));
