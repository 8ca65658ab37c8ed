export declare const HOOK_SCRIPT: {
  format: 'iife';
  strict: boolean;
  banner: string;
  intro: string;
  footer: string;
};
