import sys, time, collections; sys.path.insert(0,'/work/wt/stages/benchmarks')
import numpy as np
from made_curves import curves
from saddlescope.stages import find_stages
name=sys.argv[1]
tot=collections.Counter(); by=collections.defaultdict(collections.Counter)
t0=time.process_time(); n=0
for c in curves(name):
    n+=1
    st=find_stages(c.loss,c.time,log_time=c.log_time)
    found=[d.at for d in st.all_falls if d.kind!='slope'] if False else [d.at for d in st.drops]
    pos=np.log(c.time) if c.log_time else c.time
    T=(lambda v: np.log(v)) if c.log_time else (lambda v: v)
    tol=0.025*(pos[-1]-pos[0]); used=set(); hit=0
    for (a,m,b),v in zip(c.drops,c.visible):
        cand=[i for i,f in enumerate(found) if i not in used and T(a)-tol<=T(f)<=T(b)+tol]
        if cand:
            used.add(cand[0]); hit+=v
    false=len(found)-len(used)
    kind='drops' if c.drops else 'stageless'
    for k in (('all',),('noise',c.noise),('family',c.family)):
        by[k].update(hit=hit,truth=sum(c.visible),hidden=len(c.drops)-sum(c.visible),false=false,curves=1, sfalse=false if not c.drops else 0, scurves=not c.drops)
for k,v in by.items():
    P=v['hit']/max(v['hit']+v['false']-v['sfalse'],1); R=v['hit']/max(v['truth'],1)
    print(f"{' '.join(k):36s} P {P:.3f} R {R:.3f} truth {v['truth']:4d} hidden {v['hidden']:3d} false/stageless {v['sfalse']/max(v['scurves'],1):.2f} curves {v['curves']}")
print(n, time.process_time()-t0)
