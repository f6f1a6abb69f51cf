/** A screen of an app, for the review agent: deliberately uneven. */
const screenApp = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 1280">
<rect width="720" height="1280" fill="#f4f5f9"/>
<rect width="720" height="150" fill="#5b6cff"/>
<rect x="40" y="84" width="220" height="30" rx="8" fill="#fff"/><circle cx="650" cy="98" r="26" fill="#fff" opacity=".8"/>
<g fill="#fff"><rect x="40" y="190" width="640" height="220" rx="20"/><rect x="40" y="440" width="310" height="260" rx="8"/>
<rect x="372" y="446" width="316" height="250" rx="24"/><rect x="34" y="740" width="652" height="150" rx="20"/><rect x="40" y="914" width="640" height="150" rx="20"/></g>
<g fill="#d8dcee"><rect x="70" y="220" width="150" height="160" rx="14"/><rect x="70" y="470" width="250" height="140" rx="8"/><rect x="400" y="474" width="256" height="130" rx="16"/>
<rect x="66" y="770" width="90" height="90" rx="45"/><rect x="70" y="944" width="90" height="90" rx="12"/></g>
<g fill="#2b3150"><rect x="250" y="236" width="260" height="26" rx="6"/><rect x="70" y="634" width="180" height="22" rx="6"/><rect x="400" y="626" width="150" height="18" rx="6"/>
<rect x="186" y="786" width="260" height="22" rx="6"/><rect x="190" y="962" width="210" height="26" rx="6"/></g>
<g fill="#a9b0c9"><rect x="250" y="284" width="380" height="16" rx="5"/><rect x="250" y="314" width="330" height="16" rx="5"/><rect x="186" y="826" width="360" height="14" rx="5"/><rect x="190" y="1004" width="400" height="16" rx="5"/></g>
<rect x="250" y="346" width="120" height="38" rx="19" fill="#aab4ff"/><rect x="40" y="1110" width="640" height="90" rx="45" fill="#c9cffb"/><rect x="270" y="1142" width="180" height="26" rx="8" fill="#e9ebff"/>
</svg>`;

export const screens = { 'screen-app': screenApp };
