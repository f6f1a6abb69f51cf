export const styles = `:root{
  --bg:#f6f7fb;--panel:#fff;--line:#e7e9f1;--line-strong:#d9dce8;--ink:#1f2430;--soft:#6a7183;--faint:#9aa1b3;
  --brand:#3b6cf6;--brand-ink:#fff;--brand-soft:#eaf0ff;--row:#fafbfe;--shade:0 1px 2px rgba(25,32,56,.05),0 8px 24px rgba(25,32,56,.06);
  --green:#118a5b;--green-bg:#e3f6ec;--amber:#a35c00;--amber-bg:#fff1d9;--red:#c2342b;--red-bg:#fde9e7;--blue:#2457d6;--blue-bg:#e5edff;
  --violet:#6b3fc4;--violet-bg:#f0e9ff;--grey:#5b6274;--grey-bg:#eef0f5;
  font:14px/1.55 -apple-system,BlinkMacSystemFont,"Segoe UI","PingFang SC","Hiragino Sans GB","Microsoft YaHei","Noto Sans CJK SC",sans-serif;
}
@media (prefers-color-scheme:dark){:root{
  --bg:#12141b;--panel:#1a1d27;--line:#282c39;--line-strong:#353a4a;--ink:#e8eaf2;--soft:#a2a9bb;--faint:#727a8e;
  --brand:#6f93ff;--brand-ink:#0e1220;--brand-soft:#222c4a;--row:#1d202b;--shade:0 1px 2px rgba(0,0,0,.3),0 10px 30px rgba(0,0,0,.35);
  --green:#5fd6a2;--green-bg:#143528;--amber:#ffc46b;--amber-bg:#3b2c12;--red:#ff8f86;--red-bg:#401e1c;--blue:#9db8ff;--blue-bg:#1e2a4d;
  --violet:#c3a6ff;--violet-bg:#2e2348;--grey:#b3bacb;--grey-bg:#2a2e3b;
}}
*{box-sizing:border-box}
html,body{height:100%}
body{margin:0;background:var(--bg);color:var(--ink);display:flex;flex-direction:column;overflow:hidden}
button,select,input,textarea{font:inherit;color:inherit}
button{cursor:pointer}
:focus-visible{outline:2px solid var(--brand);outline-offset:2px}
.top{display:flex;align-items:center;gap:18px;padding:12px 22px;background:var(--panel);border-bottom:1px solid var(--line)}
.brand{display:flex;align-items:center;gap:11px;min-width:max-content}
.brand h1{font-size:16px;line-height:1.2;margin:0;letter-spacing:.02em}
.brand p{margin:1px 0 0;font-size:12px;color:var(--faint)}
.logo{width:32px;height:32px;border-radius:9px;background:linear-gradient(#fff3,#fff0),var(--brand);position:relative;flex:none}
.logo::before,.logo::after{content:"";position:absolute;inset:12px 7px;border:solid #fff;border-width:2px 0}
.logo::after{inset:7px 12px;border-width:0 2px}
.tabs{display:flex;gap:4px;overflow-x:auto;scrollbar-width:none}
.tabs button{border:0;background:none;padding:7px 13px;border-radius:9px;color:var(--soft);white-space:nowrap}
.tabs button:hover{background:var(--grey-bg)}
.tabs button[aria-selected=true]{background:var(--brand-soft);color:var(--brand);font-weight:600}
.spring{flex:1}
.totals{display:flex;gap:16px;color:var(--soft);font-size:13px;white-space:nowrap}
.totals b{color:var(--ink);font-variant-numeric:tabular-nums}
.live{font-size:12px;color:var(--faint);display:inline-flex;align-items:center;gap:6px;white-space:nowrap}
.live::before{content:"";width:7px;height:7px;border-radius:50%;background:var(--green)}
.live.off::before{background:var(--red)}
.primary{border:0;background:var(--brand);color:var(--brand-ink);padding:8px 15px;border-radius:9px;font-weight:600;white-space:nowrap}
.primary:hover{filter:brightness(1.06)}
.ghost{border:1px solid var(--line-strong);background:var(--panel);padding:7px 14px;border-radius:9px}
.hint{padding:10px 22px 0}
.hint ol{list-style:none;display:flex;flex-wrap:wrap;gap:8px 22px;margin:0;padding:0;color:var(--soft);font-size:13px;counter-reset:step}
.hint li{counter-increment:step}
.hint li::before{content:counter(step);display:inline-grid;place-items:center;width:18px;height:18px;margin-right:7px;border-radius:50%;background:var(--grey-bg);font-size:11px}
.hint b{color:var(--ink);margin-right:7px}
.sheet{flex:1;margin:12px 22px 22px;background:var(--panel);border:1px solid var(--line);border-radius:14px;box-shadow:var(--shade);overflow:auto;outline-offset:-2px}
.grid{border-collapse:separate;border-spacing:0;min-width:100%}
.grid th{position:sticky;top:0;z-index:3;background:var(--row);text-align:left;font-weight:500;font-size:12.5px;color:var(--soft);padding:9px 12px;border-bottom:1px solid var(--line-strong);border-right:1px solid var(--line);white-space:nowrap}
.grid th .icon{display:inline-block;min-width:16px;margin-right:6px;color:var(--faint);font-size:11px;text-align:center}
.grid td{height:92px;max-width:260px;vertical-align:top;padding:9px 12px;border-bottom:1px solid var(--line);border-right:1px solid var(--line);background:var(--panel)}
.grid tr:hover td{background:var(--row)}
.grid .number{position:sticky;left:0;z-index:2;width:52px;min-width:52px;text-align:center;color:var(--faint);font-variant-numeric:tabular-nums}
.grid th.number{z-index:4}
.grid tr.flash td{animation:flash 1.4s ease-out}
@keyframes flash{from{background:var(--brand-soft)}}
.remove{display:none;border:0;background:none;color:var(--faint);padding:2px 6px;border-radius:6px}
tr:hover .remove,.remove:focus-visible{display:inline-block}
tr:hover .index{display:none}
.remove:hover{color:var(--red);background:var(--red-bg)}
.w-text{min-width:190px}.w-number{min-width:92px}.w-select{min-width:112px}.w-files{min-width:248px}.w-person{min-width:96px}
.text{display:flex;align-items:flex-start;width:100%;min-height:70px;text-align:left;border:0;background:none;padding:0;margin:0}
.text span{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;white-space:pre-wrap;overflow-wrap:anywhere}
button.text:hover{color:var(--brand)}
.text.none span{color:var(--faint);opacity:0}
.text.none:hover span,.text.none:focus-visible span{opacity:1}
.text.bad{color:var(--red)}
.text.fine{color:var(--soft);font-size:13px}
.amount{font-variant-numeric:tabular-nums;border:0;background:none;padding:0;min-height:24px;min-width:60px;text-align:left;white-space:nowrap}
.chip{display:inline-flex;align-items:center;gap:6px;padding:2px 10px;border-radius:99px;font-size:13px;background:var(--grey-bg);color:var(--grey);white-space:nowrap}
.chip.blue{background:var(--blue-bg);color:var(--blue)}.chip.green{background:var(--green-bg);color:var(--green)}
.chip.amber{background:var(--amber-bg);color:var(--amber)}.chip.red{background:var(--red-bg);color:var(--red)}.chip.violet{background:var(--violet-bg);color:var(--violet)}
.chip.busy::before{content:"";width:7px;height:7px;border-radius:50%;background:currentColor;animation:pulse 1.2s ease-in-out infinite}
@keyframes pulse{50%{opacity:.25}}
.pick{appearance:none;border:1px solid var(--line-strong);background:var(--panel);border-radius:9px;padding:5px 28px 5px 11px;min-width:88px;
  background-image:linear-gradient(45deg,transparent 50%,var(--faint) 50%),linear-gradient(-45deg,transparent 50%,var(--faint) 50%);background-size:5px 5px;background-repeat:no-repeat;background-position:right 14px center,right 9px center}
.pick:hover{border-color:var(--brand)}
.pick.set{background-color:var(--brand-soft);color:var(--brand);border-color:transparent;font-weight:600}
.files{display:flex;flex-wrap:wrap;gap:7px;min-height:70px;align-content:flex-start;border-radius:9px}
.files.over{outline:2px dashed var(--brand);outline-offset:3px}
.file{position:relative;width:64px;height:72px;border-radius:9px;overflow:hidden;border:1px solid var(--line);background:var(--grey-bg);padding:0}
.file>button{display:block;width:100%;height:100%;border:0;padding:0;background:none}
.file img,.file video{width:100%;height:100%;object-fit:cover;display:block}
.file .name{display:grid;place-items:center;height:100%;font-size:11px;color:var(--soft);padding:4px;overflow-wrap:anywhere}
.file .play{position:absolute;inset:0;display:grid;place-items:center;pointer-events:none}
.file .play::before{content:"";width:26px;height:26px;border-radius:50%;background:rgba(10,12,20,.62)}
.file .play::after{content:"";position:absolute;border-left:9px solid #fff;border-top:6px solid transparent;border-bottom:6px solid transparent;margin-left:3px}
.file .drop{position:absolute;top:3px;right:3px;width:18px;height:18px;line-height:16px;border-radius:50%;border:0;background:rgba(10,12,20,.62);color:#fff;font-size:12px;padding:0;opacity:0}
.file:hover .drop,.file .drop:focus-visible{opacity:1}
.upload{width:64px;height:72px;border:1px dashed var(--line-strong);border-radius:9px;display:grid;place-items:center;color:var(--faint);font-size:20px;cursor:pointer;background:none}
.upload:hover{border-color:var(--brand);color:var(--brand)}
.upload input{position:absolute;width:1px;height:1px;opacity:0}
.upload:focus-within{outline:2px solid var(--brand);outline-offset:2px}
.empty{text-align:center;color:var(--faint);padding:60px 20px}
dialog{border:1px solid var(--line);border-radius:16px;background:var(--panel);color:var(--ink);box-shadow:0 24px 80px rgba(10,14,30,.35);padding:0;max-width:min(92vw,960px)}
dialog::backdrop{background:rgba(12,15,26,.5)}
.viewer img,.viewer video{display:block;max-width:min(88vw,920px);max-height:78vh;background:#0b0d14}
.bar{display:flex;align-items:center;gap:12px;padding:11px 16px;border-bottom:1px solid var(--line)}
.bar strong{font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar a{color:var(--brand);text-decoration:none;font-size:13px}
.shut{border:0;background:none;font-size:20px;line-height:1;color:var(--soft);border-radius:8px;padding:4px 8px}
.shut:hover{background:var(--grey-bg)}
.editor{width:min(92vw,640px)}
.editor textarea,.editor input{display:block;width:100%;border:0;background:none;padding:16px;outline:none;resize:vertical;line-height:1.65}
.editor textarea{min-height:260px}
.foot{display:flex;justify-content:flex-end;gap:10px;padding:12px 16px;border-top:1px solid var(--line)}
.toasts{position:fixed;left:50%;bottom:26px;transform:translateX(-50%);display:grid;gap:8px;z-index:10}
.toast{background:var(--ink);color:var(--panel);padding:9px 16px;border-radius:10px;box-shadow:var(--shade);font-size:13.5px}
.toast.bad{background:var(--red);color:#fff}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
@media (max-width:760px){.top{flex-wrap:wrap;gap:10px}.totals,.hint,.brand p{display:none}.sheet{margin:10px}}
`;
